/** nginx: files, and a reverse proxy. HTTP/2 is a property of the port, so cleartext has two. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site, WIRES } from '../real-server.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

export interface NginxSite extends Site {
  /** Few requests on each connection. */
  readonly few: { readonly h2: string; readonly h2c: string; readonly h1: string }
  /** Few streams at a time. */
  readonly narrow: { readonly h2: string; readonly h2c: string }
}

/** A package apart. */
const BROTLI = '/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so'
const makesBrotli = existsSync(BROTLI)

export const REQUESTS_PER_CONNECTION = 20
const MANY = 10_000_000

function configuration(
  folder: string,
  ports: Awaited<ReturnType<typeof choosePorts>>,
  backend: number,
): string {
  const site = (listen: string, more = ''): string => `
    server {
      listen 127.0.0.1:${listen};
      server_name localhost;
      root ${folder}/htdocs;
      ${more}
      client_max_body_size 0;
      location = /refused {
        client_max_body_size 1;
        proxy_pass http://127.0.0.1:${backend};
      }
      location /backend/ {
        proxy_pass http://127.0.0.1:${backend};
        proxy_http_version 1.1;
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_set_header upgrade $http_upgrade;
        proxy_set_header connection $backend_connection;
      }
    }`
  const few = `keepalive_requests ${REQUESTS_PER_CONNECTION};`
  const narrow = 'http2_max_concurrent_streams 3;'
  // Otherwise the worker of a master that runs as root could not read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `
    daemon off;
    ${makesBrotli ? `load_module ${BROTLI};` : ''}
    ${user}
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr crit;
    events { worker_connections 512; }
    http {
      access_log off;
      default_type text/plain;
      gzip on;
      gzip_types text/plain;
      ${makesBrotli ? 'brotli on;\n      brotli_types text/plain;' : ''}
      keepalive_timeout 3600;
      keepalive_requests ${MANY};
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      ssl_certificate ${CERT_FILE};
      ssl_certificate_key ${KEY_FILE};
      ssl_protocols TLSv1.2 TLSv1.3;
      map $http_upgrade $backend_connection { default upgrade; '' ''; }
      ${site(`${ports.tls} ssl http2`)}
      ${site(`${ports.h2c} http2`)}
      ${site(`${ports.h1}`)}
      ${site(`${ports.mutual} ssl http2`, `ssl_client_certificate ${AUTHORITY_FILE}; ssl_verify_client on;`)}
      ${site(`${ports.fewH2} ssl http2`, few)}
      ${site(`${ports.fewH2c} http2`, few)}
      ${site(`${ports.fewH1}`, few)}
      ${site(`${ports.narrowH2} ssl http2`, narrow)}
      ${site(`${ports.narrowH2c} http2`, narrow)}
    }`
}

const choosePorts = () =>
  freePorts(['h1', 'tls', 'h2c', 'mutual', 'fewH2', 'fewH2c', 'fewH1', 'narrowH2', 'narrowH2c'])

export const nginx: RealServer<NginxSite> = {
  name: 'nginx',
  program: findProgram('nginx'),
  trailers: onEvery('dropped'),
  earlyHints: onEvery('broken'),
  webSocket: ['h1', 'h1+tls'],
  // It stops reading an HTTP/1.1 request once the response has started and it has to wait for the client.
  duplex: ['h2', 'h2c'],
  codings: { gzip: ['/text.txt'], ...(makesBrotli ? { br: ['/text.txt'] } : null) },
  refusesIn: 'response',
  asksForBodies: ['h1', 'h1+tls'],
  refusal: { path: '/refused', status: 413, wires: WIRES },

  async start(stage: Stage, backend: Backend): Promise<NginxSite> {
    const folder = stage.folder()
    mkdirSync(`${folder}/htdocs`)
    writeSite(`${folder}/htdocs`)
    const ports = await choosePorts()
    const file = `${folder}/nginx.conf`
    writeFileSync(file, configuration(folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['-p', folder, '-c', file, '-e', 'stderr'],
      ports: Object.values(ports),
    })
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h2c}`,
      mutual: `https://127.0.0.1:${ports.mutual}`,
      few: {
        h2: `https://127.0.0.1:${ports.fewH2}`,
        h2c: `http://127.0.0.1:${ports.fewH2c}`,
        h1: `http://127.0.0.1:${ports.fewH1}`,
      },
      narrow: {
        h2: `https://127.0.0.1:${ports.narrowH2}`,
        h2c: `http://127.0.0.1:${ports.narrowH2c}`,
      },
    }
  },
}
