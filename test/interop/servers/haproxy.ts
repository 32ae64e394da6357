/** HAProxy: a reverse proxy that changes little. A master keeps the ports over its restarts. */
import { writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, certificateWithKey } from '../certificate-files.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site, WIRES } from '../real-server.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

function configuration(
  certificate: string,
  folder: string,
  ports: Record<'h1' | 'tls' | 'h2c' | 'mutual', number>,
  backend: number,
): string {
  const tls = `ssl crt ${certificate} alpn h2,http/1.1 ssl-min-ver TLSv1.2`
  return `
global
  nbthread 1
  maxconn 1000
  stats socket ${folder}/haproxy.sock mode 600 level admin expose-fd listeners
defaults
  mode http
  timeout connect 10s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  timeout http-keep-alive 1h
  # An HTTP/1.1 connection that waits is told with its next response that the process ends.
  option idle-close-on-response
frontend site
  bind 127.0.0.1:${ports.h1}
  bind 127.0.0.1:${ports.h2c} proto h2
  bind 127.0.0.1:${ports.tls} ${tls}
  bind 127.0.0.1:${ports.mutual} ${tls} verify required ca-file ${AUTHORITY_FILE}
  http-request deny deny_status 413 if { path /refused }
  use_backend raw if { path_beg /raw/ }
  default_backend origin
backend origin
  compression algo gzip deflate
  compression type text/plain
  server origin 127.0.0.1:${backend}
# Deflate without the zlib header, as some servers send it.
backend raw
  compression algo raw-deflate
  compression type text/plain
  http-request replace-path /raw(/.*) \\1
  server origin 127.0.0.1:${backend}
`
}

export const haproxy: RealServer = {
  name: 'haproxy',
  program: findProgram('haproxy'),
  trailers: onEvery('passed'),
  earlyHints: onEvery('passed'),
  webSocket: ['h1', 'h1+tls', 'h2', 'h2c'],
  duplex: ['h1', 'h1+tls', 'h2', 'h2c'],
  codings: { gzip: ['/text.txt'], deflate: ['/text.txt', '/raw/text.txt'] },
  refusesIn: 'handshake',
  asksForBodies: WIRES,
  refusal: { path: '/refused', status: 413, wires: WIRES },

  async start(stage: Stage, backend: Backend): Promise<Site> {
    const folder = stage.folder()
    const certificate = `${folder}/certificate.pem`
    writeFileSync(certificate, certificateWithKey())
    const ports = await freePorts(['h1', 'tls', 'h2c', 'mutual'])
    const file = `${folder}/haproxy.cfg`
    writeFileSync(file, configuration(certificate, folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['-W', '-f', file, '-p', `${folder}/haproxy.pid`],
      ports: Object.values(ports),
    })
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h2c}`,
      mutual: `https://127.0.0.1:${ports.mutual}`,
    }
  },
}

/** In front of a forward proxy, to which it passes CONNECT from HTTP/2. Returns its origin. */
export async function startHaproxyBefore(stage: Stage, behind: URL): Promise<string> {
  const folder = stage.folder()
  const certificate = `${folder}/certificate.pem`
  writeFileSync(certificate, certificateWithKey())
  const { tls } = await freePorts(['tls'])
  const file = `${folder}/haproxy.cfg`
  const lines = [
    'global',
    '  nbthread 1',
    'defaults',
    '  mode http',
    '  timeout connect 10s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  timeout tunnel 1h',
    'frontend proxy',
    `  bind 127.0.0.1:${tls} ssl crt ${certificate} alpn h2,http/1.1 ssl-min-ver TLSv1.2`,
    '  default_backend behind',
    'backend behind',
    // Tinyproxy takes one request on a connection.
    '  option http-server-close',
    '  http-reuse never',
    `  server behind ${behind.hostname}:${behind.port}`,
    '',
  ]
  writeFileSync(file, lines.join('\n'))
  await stage.start({ file: haproxy.program!, args: ['-db', '-f', file], ports: [tls] })
  return `https://127.0.0.1:${tls}`
}
