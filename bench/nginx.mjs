// The server for all measurements: one nginx worker in a separate process, on a separate core.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onServerCore } from './cores.mjs'
import { compressedPage, ORIGINS, PAGE_LENGTH, PAGES, PAGES_PATH } from './crawl.mjs'
import { writeEvents } from './events.mjs'
import { CERTS, programPath } from './prepare.mjs'
import { ORDERS_PATH, REAL_PATH } from './real-traffic.mjs'
import { JSON_BODY } from './request.mjs'

/** In the JSON of a response: its candidates parse it and return this text. */
export const JSON_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(5)
const JSON_ANSWER = JSON.stringify({ id: 21, name: 'bench', list: [1, 2, 3], text: JSON_TEXT })

/** Paths of the server → length of the text that a candidate returns: the whole body, or the text in its JSON. */
export const BODIES = {
  '/small': 13,
  '/cached': 13,
  '/json': JSON_TEXT.length,
  '/post': 13,
  [REAL_PATH]: JSON_TEXT.length,
  [ORDERS_PATH]: JSON_TEXT.length,
  [PAGES_PATH]: PAGE_LENGTH,
  '/64k': 64 * 1024,
  '/1m': 1024 * 1024,
  '/8m': 8 * 1024 * 1024,
}
const FILES = ['/post', '/64k', '/1m', '/8m']

const WIRES = ['h1', 'h1-tls', 'h2c', 'h2', 'forward-proxy']

/** Resolves to the port of each wire, the ports of the crawler's origins as `pages`, and a function that stops it. */
export async function startNginx() {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-bench-'))
  const files = join(folder, 'files')
  mkdirSync(files)
  for (const name of FILES) writeFileSync(join(files, name), line(BODIES[name]))
  for (let i = 0; i < PAGES; i++) writeFileSync(join(files, `page-${i}.html.gz`), compressedPage(i))
  writeEvents(join(files, 'events'))
  const [pages, ...others] = await freePorts([ORIGINS, ...WIRES.map(() => 1)])
  const ports = { ...Object.fromEntries(WIRES.map((wire, i) => [wire, others[i][0]])), pages }
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, files, ports))
  const [command, ...args] = onServerCore([programPath('nginx'), '-e', 'stderr', '-p', folder, '-c', file])
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const said = []
  child.stderr.on('data', (chunk) => said.push(chunk))
  const stop = () => {
    // In this order: at its end nginx removes a file here, and a file that is gone too soon ends the removal of the rest.
    rmSync(folder, { recursive: true, force: true })
    child.kill('SIGTERM')
  }
  try {
    await Promise.race([reachable(ports.h1, 'nginx'), failed(child, said)])
  } catch (error) {
    stop()
    throw error
  }
  return { ports, stop }
}

/** Text that is neither uniform nor slow to create. */
function line(length) {
  return 'The quick brown fox jumps over the lazy dog. 0123456789 and so on.\n'
    .repeat(length / 64 + 1)
    .slice(0, length)
}

export async function freePort() {
  const [[port]] = await freePorts([1])
  return port
}

/** All are taken before the first is given back, so that no two are the same. */
async function freePorts(counts) {
  const servers = counts.map((count) =>
    Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1')),
  )
  await Promise.all(servers.flat().map((server) => once(server, 'listening')))
  const ports = servers.map((group) => group.map((server) => server.address().port))
  await Promise.all(servers.flat().map((server) => once(server.close(), 'close')))
  return ports
}

async function failed(child, said) {
  const [code] = await once(child, 'exit')
  throw new Error(`nginx ended with ${code}: ${Buffer.concat(said)}`)
}

export async function reachable(port, name) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      socket.destroy()
    }
  }
  throw new Error(`${name} does not answer`)
}

function configuration(folder, files, ports) {
  const tls = `
    ssl_certificate ${join(CERTS, 'localhost.pem')};
    ssl_certificate_key ${join(CERTS, 'localhost-key.pem')};
    ssl_protocols TLSv1.3;`
  const refuse = `if ($content_length != ${JSON_BODY.length}) { return 411; }`
  // Over HTTP/1.1 nginx reads the body before the next request in any case. Over HTTP/2 "return" answers before the
  // body was read: clients get a RST_STREAM each time, and the connection of h2load failed after some thousand
  // requests. "mirror" reads the body first, a file refuses POST, and the refusal gets the usual small response.
  const postOverHttp1 = `
    location = /post { ${refuse} return 200 "Hello, world!"; }`
  const postOverHttp2 = `
    location = /post { ${refuse} mirror /sink; root ${files}; error_page 405 =200 @posted; }
    location @posted { return 200 "Hello, world!"; }
    location = /sink { internal; return 204; }`
  // Real traffic: every answer has an id, an entity tag and a cookie that no other has.
  const real = `
      default_type application/json;
      add_header x-request-id $request_id;
      add_header etag '"$request_id"';
      add_header set-cookie "session=$request_id; Path=/; HttpOnly; SameSite=Lax";
      add_header cache-control "private, no-cache";
      add_header vary "accept, authorization";
      return 200 '{"id":"$request_id","path":"$uri","list":[1,2,3],"text":"${JSON_TEXT}"}';`
  const locations = `
    location ${REAL_PATH} { ${real} }
    location ${ORDERS_PATH} { ${real} }
    location = /small { return 200 "Hello, world!"; }
    location = /json { default_type application/json; return 200 '${JSON_ANSWER}'; }
    location = /cached { add_header cache-control max-age=3600; return 200 "Hello, world!"; }
    location = /events { default_type text/event-stream; root ${files}; }
    location = /protocol { return 200 "$server_protocol"; }
    location / { root ${files}; }`
  const server = (listen, post, extra = '') => `
  server {
    listen 127.0.0.1:${listen};${extra}${post}${locations}
  }`
  const pages = `
  server {${ports.pages.map((port) => `\n    listen 127.0.0.1:${port};`).join('')}
    location ${PAGES_PATH} {
      default_type text/html;
      charset utf-8;
      gzip_static always;
      etag off;
      add_header etag '"$request_id"';
      add_header x-request-id $request_id;
      add_header vary accept-encoding;
      add_header cache-control "public, max-age=60";
      add_header set-cookie "visit=$request_id; Path=/; SameSite=Lax";
      add_header content-security-policy "default-src 'self'; img-src *";
      add_header x-content-type-options nosniff;
      rewrite ^${PAGES_PATH}([0-9]+)/ /page-$1.html break;
      root ${files};
    }
    location = /protocol { return 200 "$server_protocol"; }
  }`
  // A worker of root's nginx may not read root's temporary files; without root the line has no effect.
  return `${process.getuid() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
events { worker_connections 8192; }
http {
  access_log off;
  error_log stderr crit;
  default_type text/plain;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  open_file_cache max=64 inactive=1h;
  open_file_cache_valid 1h;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_buffer_size 64k;
  client_body_temp_path ${join(folder, 'body')};
  proxy_temp_path ${join(folder, 'proxy')};
  fastcgi_temp_path ${join(folder, 'fastcgi')};
  uwsgi_temp_path ${join(folder, 'uwsgi')};
  scgi_temp_path ${join(folder, 'scgi')};
  http2_max_concurrent_streams 128;
${server(ports.h1, postOverHttp1)}
${server(`${ports['h1-tls']} ssl`, postOverHttp1, tls)}
${server(`${ports.h2c} http2`, postOverHttp2)}
${server(`${ports.h2} ssl http2`, postOverHttp2, tls)}
${pages}
  upstream origin { server 127.0.0.1:${ports.h1}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${ports['forward-proxy']};
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header connection "";
    }
  }
}
`
}
