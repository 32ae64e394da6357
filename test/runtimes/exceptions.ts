/**
 * The tests of the API suite that cannot pass with a runtime other than Node, by the fault of the runtime. At most ten
 * faults each; docs/runtimes.md has the same table.
 */
export interface Exception {
  readonly runtime: 'bun' | 'deno'
  /** The row in docs/runtimes.md. */
  readonly fault: string
  /** Matches the file and the full name of a test, `file > suite > test`. */
  readonly tests: RegExp
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    runtime: 'bun',
    fault: 'server of `node:http2`: closing a stream or a session sends another error code, or a normal end',
    tests: new RegExp(
      [
        'error-messages.test.ts > .* over h2.* > (a reset|a tunnel that is reset: (CANCEL|INTERNAL)|the server closes before)',
        'body-memory.test.ts > .* > given away before the request is sent a second time',
        'retiring-servers.test.ts > .* > (a server that takes fewer streams|one that refuses every stream)',
        'failing-bodies.test.ts > HTTP/2 (session ended with an error|stream reset) over',
        'failing-bodies.test.ts > the table has as many cells',
      ].join('|'),
    ),
  },
  {
    runtime: 'bun',
    fault: 'server of `node:http2`: a request that is paused is read on, without flow control',
    tests: /request-bodies.test.ts > .* over h2.* > .* is read no faster than the server takes it/,
  },
  {
    runtime: 'bun',
    fault: 'server of `node:https`: `resetAndDestroy()` of a socket throws',
    tests: /failing-bodies.test.ts > server resets the connection over h1\+tls/,
  },
  {
    runtime: 'bun',
    fault: '`node:http2` does not connect through a TLS socket that did not negotiate `h2`',
    tests: /tunnel-consumers.test.ts > .* over h1\+tls.* > http2\.connect: /,
  },
  {
    runtime: 'bun',
    fault: 'a paused `tls.TLSSocket` is read on',
    tests:
      /tunnel-sockets.test.ts > .* over (h1\+tls given|tls\.TLSSocket) > a reader that pauses makes the peer stop/,
  },
  {
    runtime: 'bun',
    fault: 'the garbage collector keeps an object that nothing refers to',
    tests: /api.request.test.ts > .* > a response that is dropped unread takes its listener with it/,
  },
  {
    runtime: 'bun',
    fault: '`bytesRead` of a socket with `onread` stays 0',
    tests: /error-context.test.ts > .* > while receiving the body, on a connection that was used before/,
  },
  {
    runtime: 'bun',
    fault: '`Blob` adds a charset to its type',
    tests: /request-bodies.test.ts > .* > only Blob and FormData bring a content type/,
  },
  {
    runtime: 'bun',
    fault: '`Response.formData()` of the runtime does not decode names',
    tests: /request-bodies.test.ts > .* > FormData arrives as a form that the runtime reads back/,
  },
  {
    runtime: 'deno',
    fault: 'server of `node:http2`: `session.destroy()` ends its streams without an error first',
    tests: /error-messages.test.ts > .* over h2.* > the server closes before it answers/,
  },
  {
    runtime: 'deno',
    fault: 'the error of a locked web stream has no `code`',
    tests: /body-streams.test.ts > .* > a web stream that somebody else reads/,
  },
  {
    runtime: 'deno',
    fault: '`Response.formData()` of the runtime does not decode names',
    tests: /request-bodies.test.ts > .* > FormData arrives as a form that the runtime reads back/,
  },
  {
    runtime: 'deno',
    fault: 'TLS on top of a socket with `onread` receives nothing, so sockets are read without it',
    tests: /scheduling.test.ts > .* over h1.* > the end of a connection makes nobody read a stack/,
  },
  {
    runtime: 'deno',
    fault: 'a paused `tls.TLSSocket` is read on, and never emits `end`',
    tests: new RegExp(
      [
        'tunnel-consumers.test.ts > .* over h1\\+tls.* > .*: flood',
        'tunnel-consumers.test.ts > .* over h1\\+tls.* > (?!data|http).*: large',
        'tunnel-consumers.test.ts > .* over h1\\+tls.* > Readable\\.wrap: late',
        'tunnel-consumers.test.ts > .* > tls\\.connect: large',
        'tunnel-sockets.test.ts > .* over (h1\\+tls|tls\\.TLSSocket).* > a reader that pauses makes the peer stop',
      ].join('|'),
    ),
  },
  {
    runtime: 'deno',
    fault: 'a socket that was paused does not start to read for a `readable` listener',
    tests: /tunnel-sockets.test.ts > .* over (net|tls)\..* > pause\(\), then readable and read\(\)/,
  },
]

/** The tests run although they are excepted, to find those that pass by now. */
export const ALL: boolean = process.env['VENTUNO_EXCEPTIONS'] === 'run'

const rows = EXCEPTIONS.filter(({ runtime }) => process.versions[runtime] !== undefined)

/** The fault of this runtime that a test cannot pass with, or null. */
export function exceptionFor(file: string, name: string): string | null {
  const path = `${file} > ${name}`
  return rows.find(({ tests }) => tests.test(path))?.fault ?? null
}
