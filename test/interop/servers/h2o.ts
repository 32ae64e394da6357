/** H2O: files, and a reverse proxy. It cannot ask for client certificates. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site } from '../real-server.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

function configuration(folder: string, ports: { h1: number; tls: number }, backend: number): string {
  const user = process.getuid?.() === 0 ? 'user: root' : ''
  return `
${user}
num-threads: 1
http1-request-timeout: 3600
http2-idle-timeout: 3600
limit-request-body: 1073741824
temp-buffer-path: ${folder}
error-log: /dev/stderr
compress: [br, gzip]
listen:
  host: 127.0.0.1
  port: ${ports.h1}
listen:
  host: 127.0.0.1
  port: ${ports.tls}
  ssl:
    certificate-file: ${CERT_FILE}
    key-file: ${KEY_FILE}
    minimum-version: TLSv1.2
    ocsp-update-interval: 0
hosts:
  default:
    paths:
      /:
        file.dir: ${folder}/htdocs
      /backend/:
        proxy.reverse.url: http://127.0.0.1:${backend}/backend/
        proxy.websocket: ON
        proxy.timeout.io: 3600000
`
}

export const h2o: RealServer = {
  name: 'h2o',
  program: findProgram('h2o'),
  trailers: onEvery('dropped'),
  earlyHints: onEvery('dropped'),
  webSocket: ['h1', 'h1+tls'],
  duplex: [],
  codings: { gzip: ['/text.txt'], br: ['/text.txt'] },

  async start(stage: Stage, backend: Backend): Promise<Site> {
    const folder = stage.folder()
    mkdirSync(`${folder}/htdocs`)
    writeSite(`${folder}/htdocs`)
    const ports = await freePorts(['h1', 'tls'])
    const file = `${folder}/h2o.conf`
    writeFileSync(file, configuration(folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['-m', 'worker', '-c', file],
      ports: Object.values(ports),
    })
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h1}`,
      mutual: null,
    }
  },
}
