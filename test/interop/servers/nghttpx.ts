/** nghttpx of nghttp2: a reverse proxy; another instance of it is a forward proxy that takes CONNECT over HTTP/2. */
import { writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site } from '../real-server.ts'
import { findProgram, type ServerProcess } from '../server-process.ts'
import type { Stage } from '../stage.ts'

const program = findProgram('nghttpx')

async function run(stage: Stage, ports: readonly number[], lines: readonly string[]): Promise<ServerProcess> {
  const folder = stage.folder()
  const file = `${folder}/nghttpx.conf`
  const user = process.getuid?.() === 0 ? ['user=root'] : []
  const common = [
    `private-key-file=${KEY_FILE}`,
    `certificate-file=${CERT_FILE}`,
    'no-ocsp=yes',
    'workers=1',
    'single-process=yes',
    'log-level=ERROR',
    'frontend-http2-read-timeout=1h',
    'frontend-read-timeout=1h',
    'frontend-keep-alive-timeout=1h',
    'backend-read-timeout=1h',
    'tls-min-proto-version=TLSv1.2',
  ]
  writeFileSync(file, [...common, ...user, ...lines, ''].join('\n'))
  return stage.start({ file: program!, args: [`--conf=${file}`], ports })
}

export const nghttpx: RealServer = {
  name: 'nghttpx',
  program,
  trailers: onEvery('passed'),
  earlyHints: onEvery('passed'),
  webSocket: ['h1', 'h1+tls', 'h2', 'h2c'],
  duplex: ['h2', 'h2c'],
  refusesIn: 'handshake',

  async start(stage: Stage, backend: Backend): Promise<Site> {
    const ports = await freePorts(['h1', 'tls', 'mutual'])
    const origin = `backend=127.0.0.1,${backend.port}`
    const process = await run(
      stage,
      [ports.h1, ports.tls],
      [`frontend=127.0.0.1,${ports.h1};no-tls`, `frontend=127.0.0.1,${ports.tls}`, origin],
    )
    // Either all ports of an instance ask for a certificate or none.
    await run(
      stage,
      [ports.mutual],
      [
        `frontend=127.0.0.1,${ports.mutual}`,
        origin,
        'verify-client=yes',
        `verify-client-cacert=${AUTHORITY_FILE}`,
      ],
    )
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h1}`,
      mutual: `https://127.0.0.1:${ports.mutual}`,
    }
  },
}

/** In front of another forward proxy, to which it forwards requests from HTTP/2. Returns its origin. */
export async function startHttp2Proxy(stage: Stage, behind: URL): Promise<string> {
  const { tls } = await freePorts(['tls'])
  await run(
    stage,
    [tls],
    [`frontend=127.0.0.1,${tls}`, `backend=${behind.hostname},${behind.port}`, 'http2-proxy=yes'],
  )
  return `https://127.0.0.1:${tls}`
}
