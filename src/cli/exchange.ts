/**
 * One request and what came of it, as plain data that the report, the JSON result and the archive are made
 * from. A failure is data as well. Credentials are removed here; only `sent` has them.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import {
  type CookieJar,
  type Interceptor,
  interceptors,
  type RedirectContext,
  type Timings,
} from '../index.ts'
import type { Dialer } from './dialer.ts'
import { deadline, type Failure, failureOf, type Stage } from './failure.ts'
import type { Options } from './options.ts'
import { phasesOf } from './phases.ts'
import { type Field, redact } from './secrets.ts'

export type { Field }

export interface Outgoing extends Pick<Options, 'url' | 'timeout' | 'retry' | 'location' | 'compressed'> {
  readonly method: string
  readonly headers: readonly Field[]
  readonly body: Buffer | null
  /** Null: cookies are neither sent nor kept. */
  readonly jar: CookieJar | null
}

export const EMPTY_RESPONSE = {
  status: 0,
  statusText: '',
  headers: [] as readonly Field[],
  trailers: [] as readonly Field[],
  /** Bytes of the body as received. */
  size: 0,
  /** The beginning of the body, or all of it. */
  body: Buffer.alloc(0),
}

export type Incoming = typeof EMPTY_RESPONSE

export type Exchange = Readonly<Awaited<ReturnType<typeof exchange>>>

export interface Reception {
  /** Bytes of the body to keep. */
  readonly keep: number
  /** Also gets the body. It is not ended here. */
  readonly sink: Writable | null
  readonly onProgress: (received: number, expected: number | null) => void
}

/** As many as `fetch` follows. */
const MOST_REDIRECTS = 20

/** The value of the first field of this name. */
export function field(headers: readonly Field[], wanted: string): string | null {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null
}

export function requestOptions({ url, method, headers, body }: Outgoing) {
  return { origin: url.origin, path: url.pathname + url.search, method, headers: headers.flat(), body }
}

/** Sends the request and receives the response. Never throws: an error is a `failure`. */
export async function exchange(dialer: Dialer, outgoing: Outgoing, reception: Reception) {
  const { url, method, headers, body, timeout } = outgoing
  const startedAt = new Date()
  /** Informational responses. */
  const early: { status: number; headers: Field[] }[] = []
  const probe = probeSentHead(dialer, method, body)
  const limit = timeout && deadline(timeout)
  let stage: Stage = 'connecting'
  let response: Incoming | null = null
  let timings: Timings | null = null
  let failure: Failure | null = null
  const client = dialer.open(1).on('connect', () => {
    stage = 'waiting for the response'
  })
  let final = url
  try {
    const data = await client.compose(...interceptorsFor(outgoing)).request({
      ...requestOptions(outgoing),
      signal: limit ? limit.signal : null,
      responseHeaders: 'raw',
      onInfo: (info) => early.push({ status: info.statusCode, headers: pairs(info.headers as string[]) }),
    })
    stage = 'receiving the body'
    timings = data.timings
    final = (data.context as RedirectContext | null)?.history.at(-1) ?? url
    const { statusCode: status, statusText } = data
    response = { ...EMPTY_RESPONSE, status, statusText, headers: pairs(data.headers) }
    await receive(data.body, response, reception)
    response.trailers = Object.entries(data.trailers).flatMap(([name, value]) =>
      [value].flat().map((one): Field => [name, String(one)]),
    )
  } catch (error) {
    failure = failureOf(error, stage)
    timings ??= (error as { timings?: Timings }).timings ?? null
  }
  if (limit) limit.clear()
  probe.stop()
  const sent = probe.last.fields ?? headers
  await (failure === null ? client.close() : client.destroy())
  dialer.end()
  return {
    startedAt,
    // Without credentials; `sent` has them, for an archive that is to have everything.
    request: { ...outgoing, url: final, method: probe.last.method ?? method, headers: sent.map(redact) },
    sent,
    early,
    response,
    connection: dialer.connections.at(-1) ?? null,
    phases: timings && phasesOf(timings, dialer.dial),
    failure,
  }
}

function interceptorsFor({ retry, location, compressed, jar }: Outgoing): (Interceptor | null)[] {
  return [
    retry === 0 ? null : interceptors.retry({ maxRetries: retry, throwOnError: false }),
    jar === null ? null : interceptors.cookies({ jar }),
    compressed ? interceptors.decompress({ acceptEncoding: true, skipErrorResponses: false }) : null,
    location ? interceptors.redirect({ maxRedirections: MOST_REDIRECTS, throwOnMaxRedirect: true }) : null,
  ]
}

async function receive(body: AsyncIterable<Buffer>, into: Incoming, reception: Reception): Promise<void> {
  const { keep, sink, onProgress } = reception
  const length = field(into.headers, 'content-length')
  const kept: Buffer[] = []
  try {
    for await (const chunk of body) {
      if (into.size < keep) kept.push(chunk.subarray(0, keep - into.size))
      into.size += chunk.length
      onProgress(into.size, length && Number(length) ? Number(length) : null)
      // `end()` reports a failed sink.
      if (sink?.write(chunk) === false && !sink.errored) await once(sink, 'drain')
    }
  } finally {
    into.body = Buffer.concat(kept)
  }
}

function pairs(flat: readonly string[]): Field[] {
  return Array.from({ length: flat.length / 2 }, (_, i): Field => [flat[2 * i]!, flat[2 * i + 1]!])
}

const SEND_HEADERS = 'undici:client:sendHeaders'

/** Sees the heads that are written on the connection of this run. A redirect makes the last one differ. */
function probeSentHead(dialer: Dialer, method: string, body: Buffer | null) {
  const last: { method: string | null; fields: Field[] | null } = { method: null, fields: null }
  const listener = (message: unknown): void => {
    const { headers, socket } = message as { headers: string; socket: object }
    if (socket !== dialer.socket) return
    const lines = headers.split('\r\n').filter((line) => line !== '')
    if (/ HTTP\/1\.1$/.test(lines[0]!)) {
      last.method = lines.shift()!.split(' ', 1)[0]!
      // Over HTTP/1.1 the field that frames the body is added after the message was published.
      if (body !== null && last.method === method) lines.push(`content-length: ${body.length}`)
    }
    last.fields = lines.map((line): Field => {
      // A pseudo-header field of HTTP/2 begins with a colon.
      const colon = line.indexOf(':', 1)
      return [line.slice(0, colon), line.slice(colon + 2)]
    })
    last.method = field(last.fields, ':method') ?? last.method
  }
  subscribe(SEND_HEADERS, listener)
  return { last, stop: () => unsubscribe(SEND_HEADERS, listener) }
}
