/**
 * The origin of the matrix. The last part of a path says what becomes of the response; parts before it make an interceptor
 * act: `hop` redirects to the rest, `flaky` fails once, `shut` refuses once, `gzip` encodes the body.
 */
import type http from 'node:http'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../support/fake-clock.ts'
import { startOrigin, type Wire } from '../support/wire.ts'

/** More than any layer buffers, and not so regular that it looks like a bomb. */
export const LARGE = largeText(512 * 1024)
export const SMALL = 'hello'

export interface MatrixOrigin {
  readonly port: number
  /** The server has got the head of a request for this path, and nothing before it is left to be done. */
  reached(path: string): Promise<void>
  /** Waits until no response is open; `ends`: those that are held come to their end first. */
  idle(ends: boolean): Promise<void>
}

export async function startMatrixOrigin(t: Pick<TestContext, 'after'>, wire: Wire): Promise<MatrixOrigin> {
  const seen = new Set<string>()
  const failed = new Set<string>()
  const open = new Set<http.ServerResponse>()

  const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    open.add(response)
    response.on('close', () => open.delete(response)).on('error', () => {})
    request.on('error', () => {}).resume()
    const parts = request.url!.slice(1).split('/')
    const headers: Record<string, string> = { 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }
    if (parts[0] === 'hop') {
      response.writeHead(302, { location: `/${parts.slice(1).join('/')}` }).end()
      return
    }
    if (parts[0] === 'shut' && !failed.has(request.url!)) {
      failed.add(request.url!)
      response.writeHead(401).end('not yet')
      return
    }
    if (parts[0] === 'flaky' && !failed.has(request.url!)) {
      failed.add(request.url!)
      response.writeHead(503).end('not yet')
      return
    }
    const encode = parts[0] === 'gzip' ? gzipSync : Buffer.from
    if (parts[0] === 'gzip') headers['content-encoding'] = 'gzip'
    seen.add(request.url!)
    const kind = parts.at(-2)
    if (kind === 'silent') return
    response.writeHead(200, headers)
    if (kind === 'unfinished') {
      // A part of an encoding that a decoder can begin with.
      const all = encode(LARGE)
      response.write(all.subarray(0, all.length / 2))
    } else response.end(encode(kind === 'large' ? LARGE : SMALL))
  }

  const { port } = await startOrigin(t as TestContext, wire, listener)
  return {
    port,
    reached: (path) => eventually(() => seen.has(path), `the server gets ${path}`),
    idle: (ends) =>
      eventually(() => {
        if (ends) for (const response of open) response.end()
        return open.size === 0
      }, 'no response is open'),
  }
}

function largeText(length: number): string {
  let state = 1
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text.slice(0, length)
}
