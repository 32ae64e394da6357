// Records responses of real servers, byte by byte, for the scenario "heads": `node --import tsx bench/heads/record.mjs`.
// Each server has a file and stands before an application; HAProxy has no files. Their settings add the fields that
// services add. The versions are those that are installed (scripts/interop-packages.sh).
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { freePorts } from '../../test/interop/ports.ts'
import { findProgram } from '../../test/interop/server-process.ts'
import { Stage } from '../../test/interop/stage.ts'
import { JSON_TEXT } from '../nginx.mjs'

const BODY = JSON.stringify({ id: '0123456789abcdef0123456789abcdef', list: [1, 2, 3], text: JSON_TEXT })

const stage = new Stage()
const folder = stage.folder()
mkdirSync(`${folder}/files`)
writeFileSync(`${folder}/files/answer.json`, BODY)
chmodSync(`${folder}/files/answer.json`, 0o644)
const ports = await freePorts(['app', 'apache', 'caddy', 'h2o', 'haproxy', 'nginx'])
const app = await startApp(ports.app)

const SERVERS = {
  apache: {
    program: 'apache2',
    version: ['-v', /Apache\/(\S+)/],
    args: (file) => ['-D', 'FOREGROUND', '-f', file],
    settings: `
ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
ErrorLog /dev/stderr
${['mpm_event', 'authz_core', 'mime', 'headers', 'unique_id', 'proxy', 'proxy_http'].map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
User www-data
Group www-data
TypesConfig /etc/mime.types
AddType application/json .json
Mutex pthread
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
Listen 127.0.0.1:${ports.apache}
DocumentRoot ${folder}/files
Header always set Strict-Transport-Security "max-age=31536000"
Header always set X-Content-Type-Options nosniff
Header setifempty X-Request-Id "%{UNIQUE_ID}e"
Header setifempty Cache-Control "max-age=60, public"
<Directory ${folder}/files>
  Require all granted
</Directory>
ProxyPass /app/ http://127.0.0.1:${ports.app}/
`,
  },
  caddy: {
    program: 'caddy',
    version: ['version', /v?(\d\S+)/],
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    settings: `
{
  admin off
  auto_https off
}
http://:${ports.caddy} {
  bind 127.0.0.1
  header Strict-Transport-Security max-age=31536000
  header ?X-Request-Id {http.request.uuid}
  handle_path /app/* {
    reverse_proxy 127.0.0.1:${ports.app}
  }
  handle {
    root * ${folder}/files
    file_server
  }
}
`,
  },
  h2o: {
    program: 'h2o',
    version: ['--version', /version (\S+)/],
    args: (file) => ['-m', 'worker', '-c', file],
    settings: `
${process.getuid() === 0 ? 'user: root' : ''}
num-threads: 1
error-log: /dev/stderr
temp-buffer-path: ${folder}
listen:
  host: 127.0.0.1
  port: ${ports.h2o}
file.mime.addtypes:
  application/json: .json
hosts:
  default:
    paths:
      /:
        file.dir: ${folder}/files
        header.add: "strict-transport-security: max-age=31536000"
        header.add: "cache-control: public, max-age=60"
      /app/:
        proxy.reverse.url: http://127.0.0.1:${ports.app}/
`,
  },
  haproxy: {
    program: 'haproxy',
    version: ['-v', /version (\S+)/],
    args: (file) => ['-db', '-f', file],
    hasFiles: false,
    settings: `
global
  nbthread 1
defaults
  mode http
  timeout connect 10s
  timeout client 1m
  timeout server 1m
frontend site
  bind 127.0.0.1:${ports.haproxy}
  http-response set-header strict-transport-security max-age=31536000
  http-response set-header x-served-by edge-1
  default_backend app
backend app
  http-request replace-path /app(/.*) \\1
  cookie server insert indirect nocache httponly
  server app 127.0.0.1:${ports.app} cookie a1
`,
  },
  nginx: {
    program: 'nginx',
    version: ['-v', /nginx\/(\S+)/],
    args: (file) => ['-e', 'stderr', '-p', folder, '-c', file],
    settings: `
${process.getuid() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  types { application/json json; }
  proxy_temp_path ${folder}/proxy;
  client_body_temp_path ${folder}/body;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${ports.nginx};
    add_header strict-transport-security max-age=31536000;
    location / { root ${folder}/files; add_header x-request-id $request_id; add_header cache-control "public, max-age=60"; }
    location /app/ { proxy_pass http://127.0.0.1:${ports.app}/; proxy_http_version 1.1; proxy_set_header connection ""; }
  }
}
`,
  },
}

const recorded = []
try {
  for (const [name, server] of Object.entries(SERVERS)) {
    const program = findProgram(server.program)
    if (program === null) throw new Error(`${server.program} is not installed`)
    const file = `${folder}/${name}.conf`
    writeFileSync(file, server.settings)
    const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    await stage.start({ file: program, args: server.args(file), ports: [ports[name]], env })
    const paths = ['/app/length', '/app/chunked', ...(server.hasFiles === false ? [] : ['/answer.json'])]
    for (const path of paths) {
      const response = await record(ports[name], path)
      recorded.push({ server: `${name} ${versionOf(program, server.version)}`, path, response })
    }
  }
} finally {
  app.close()
  await stage.end()
}
const target = new URL('recorded.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(recorded, null, 2)}\n`)

/** What services answer: with the length of their body, or without. */
async function startApp(port) {
  const server = http.createServer((request, response) => {
    response.setHeader('x-powered-by', 'Express')
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.setHeader('etag', 'W/"12f-0123456789abcdef0123456789abcdef"')
    response.setHeader('x-request-id', '0123456789abcdef0123456789abcdef')
    response.setHeader(
      'set-cookie',
      'session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly; SameSite=Lax',
    )
    response.setHeader('cache-control', 'private, no-cache')
    response.setHeader('vary', 'Accept, Authorization')
    if (request.url === '/length') response.setHeader('content-length', BODY.length)
    response.write(BODY)
    response.end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function versionOf(program, [argument, pattern]) {
  // Some print it to stderr.
  const text = execFileSync('sh', ['-c', '"$0" "$1" 2>&1', program, argument], { encoding: 'utf8' })
  return pattern.exec(text)[1]
}

async function record(port, path) {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n\r\n`)
  let text = ''
  for await (const bytes of socket) {
    text += bytes.latin1Slice()
    if (isWhole(text)) return text
  }
  throw new Error(`the connection to port ${port} ended after: ${text}`)
}

function isWhole(text) {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(text)
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, headEnd + 1))?.[1]
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length === headEnd + 4 + Number(length)
}
