/** Apache httpd: files, a reverse proxy, and a forward proxy for CONNECT. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site, WIRES } from '../real-server.ts'
import { findProgram, withPart } from '../server-process.ts'
import type { Stage } from '../stage.ts'

export interface ApacheSite extends Site {
  /** A forward proxy. */
  readonly proxy: string
}

/** Where Debian puts them. */
const MODULES = '/usr/lib/apache2/modules'

const modules = [
  'mpm_event',
  'authz_core',
  'alias',
  'mime',
  'http2',
  'ssl',
  'socache_shmcb',
  'proxy',
  'proxy_http',
  'proxy_wstunnel',
  'proxy_connect',
  'deflate',
  'brotli',
]

function configuration(
  folder: string,
  ports: Awaited<ReturnType<typeof choosePorts>>,
  backend: number,
): string {
  // It refuses to serve as root.
  const user = process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''
  const site = (port: number, more: string): string => `
    <VirtualHost 127.0.0.1:${port}>
      ${more}
    </VirtualHost>`
  const files = `
      DocumentRoot ${folder}/htdocs
      Redirect 413 /refused
      ProxyPass /backend/ http://127.0.0.1:${backend}/backend/ upgrade=websocket flushpackets=on`
  const tls = `
      ${files}
      Protocols h2 http/1.1
      SSLEngine on
      SSLCertificateFile ${CERT_FILE}
      SSLCertificateKeyFile ${KEY_FILE}`
  return `
    ServerRoot ${folder}
    ServerName localhost
    PidFile ${folder}/apache.pid
    DefaultRuntimeDir ${folder}
    ErrorLog /dev/stderr
    LogLevel crit
    ${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n    ')}
    ${user}
    TypesConfig /dev/null
    Mutex pthread
    ServerLimit 2
    StartServers 1
    ThreadsPerChild 32
    MaxRequestWorkers 64
    MinSpareThreads 32
    MaxSpareThreads 64
    KeepAlive On
    KeepAliveTimeout 3600
    MaxKeepAliveRequests 0
    H2Direct on
    H2WebSockets on
    H2EarlyHints on
    SSLProtocol -all +TLSv1.2 +TLSv1.3
    SSLSessionCache shmcb:${folder}/sessions(512000)
    ${Object.values(ports)
      .map((port) => `Listen 127.0.0.1:${port}`)
      .join('\n    ')}
    <Directory ${folder}/htdocs>
      Require all granted
      SetOutputFilter BROTLI_COMPRESS;DEFLATE
    </Directory>
    ${site(ports.h1, `Protocols http/1.1 h2c\n${files}`)}
    ${site(ports.tls, tls)}
    ${site(ports.mutual, `${tls}\nSSLVerifyClient require\nSSLCACertificateFile ${AUTHORITY_FILE}`)}
    ${site(ports.proxy, 'Protocols http/1.1\nProxyRequests On\nAllowCONNECT 1-65535')}
  `
}

const choosePorts = () => freePorts(['h1', 'tls', 'mutual', 'proxy'])

export const apache: RealServer<ApacheSite> = {
  name: 'apache2',
  program: withPart(findProgram('apache2'), `${MODULES}/mod_http2.so`),
  trailers: { ...onEvery('passed'), h1: 'dropped', 'h1+tls': 'dropped' },
  earlyHints: onEvery('passed'),
  webSocket: ['h1', 'h1+tls', 'h2', 'h2c'],
  duplex: [],
  stumblesAtReset: ['h2c'],
  codings: { gzip: ['/text.txt'], br: ['/text.txt'] },
  refusesIn: 'handshake',
  asksForBodies: WIRES,
  refusal: { path: '/refused', status: 413, wires: WIRES },

  async start(stage: Stage, backend: Backend): Promise<ApacheSite> {
    const folder = stage.folder()
    mkdirSync(`${folder}/htdocs`)
    writeSite(`${folder}/htdocs`)
    const ports = await choosePorts()
    const file = `${folder}/apache.conf`
    writeFileSync(file, configuration(folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['-D', 'FOREGROUND', '-f', file],
      ports: Object.values(ports),
    })
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h1}`,
      mutual: `https://127.0.0.1:${ports.mutual}`,
      proxy: `http://127.0.0.1:${ports.proxy}`,
    }
  },
}
