// Two programs share the session of one user through a file: one logs in, the other logs out.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { type Listener, startOrigin } from '../support/wire.ts'
import { overTwoWires } from './two-wires.ts'

const PROGRAM = fileURLToPath(sourceUrl('test/interceptor/session-program.ts'))

/** Knows its sessions: a cookie that it did not set, or has taken back, opens nothing. */
function site(): Listener {
  const sessions = new Map<string, string>()
  let last = 0
  return (request, response) => {
    const id = /(?:^|; )session=([^;]*)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const user = sessions.get(id)
    request.resume()
    switch (`${request.method} ${request.url}`) {
      case 'POST /login': {
        const next = `id${++last}`
        sessions.set(next, 'ann')
        response.writeHead(303, {
          location: '/welcome',
          'set-cookie': [
            `session=${next}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600`,
            'csrf=x1; Path=/form',
          ],
        })
        break
      }
      case 'GET /logout':
        sessions.delete(id)
        response.writeHead(302, { location: '/account', 'set-cookie': 'session=; Path=/; Max-Age=0' })
        break
      default:
        response.writeHead(user === undefined ? 401 : 200)
    }
    response.end(`${request.url} ${user ?? 'nobody'} ${request.headers.cookie ?? '-'}`)
  }
}

async function run(...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [...sourceLoader, PROGRAM, ...args])
  return stdout.trimEnd().split('\n')
}

function jarFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-session-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'jar.json')
}

overTwoWires('a session of two programs', (wire) => {
  test('login, redirect, logout', async (t) => {
    const { url } = await startOrigin(t, wire, site())
    const file = jarFile(t)
    const useH2c = String(wire.name === 'h2c')
    assert.deepEqual(await run(url, useH2c, file, 'request /account', 'request /login', 'request /form'), [
      '401 /account nobody -',
      '200 /welcome ann session=id1',
      '200 /form ann csrf=x1; session=id1',
    ])
    assert.deepEqual(await run(url, useH2c, file, 'fetch /account', 'fetch /logout', 'request /account'), [
      '200 /account ann session=id1',
      '401 /account nobody -',
      '401 /account nobody -',
    ])
  })
})
