/** lighttpd: files, and a reverse proxy. It takes eight streams at a time on a connection. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site } from '../real-server.ts'
import { findProgram, withPart } from '../server-process.ts'
import type { Stage } from '../stage.ts'

/** A package apart. */
const compresses = existsSync('/usr/lib/lighttpd/mod_deflate.so')

function configuration(
  folder: string,
  ports: Record<'h1' | 'tls' | 'mutual', number>,
  backend: number,
): string {
  const tls = `
  ssl.engine = "enable"
  ssl.pemfile = "${CERT_FILE}"
  ssl.privkey = "${KEY_FILE}"
  ssl.openssl.ssl-conf-cmd = ("MinProtocol" => "TLSv1.2")`
  return `
server.modules = ("mod_openssl", "mod_proxy"${compresses ? ', "mod_deflate"' : ''})
${compresses ? 'deflate.mimetypes = ("text/plain")\ndeflate.allowed-encodings = ("br", "gzip", "deflate", "zstd")' : ''}
server.document-root = "${folder}/htdocs"
server.bind = "127.0.0.1"
server.port = ${ports.h1}
server.upload-dirs = ("${folder}")
server.max-keep-alive-requests = 60000
server.max-keep-alive-idle = 3600
server.max-read-idle = 3600
server.max-write-idle = 3600
server.stream-response-body = 2
server.feature-flags += ("server.h2proto" => "enable", "server.h2c" => "enable")
mimetype.assign = ("" => "text/plain")
etag.use-inode = "disable"
$HTTP["url"] =^ "/backend/" {
  proxy.server = ("" => (("host" => "127.0.0.1", "port" => ${backend})))
  proxy.header = ("upgrade" => "enable", "connect" => "enable")
}
$SERVER["socket"] == "127.0.0.1:${ports.tls}" {${tls}
}
$SERVER["socket"] == "127.0.0.1:${ports.mutual}" {${tls}
  ssl.verifyclient.activate = "enable"
  ssl.verifyclient.enforce = "enable"
  ssl.verifyclient.ca-file = "${AUTHORITY_FILE}"
}
`
}

export const lighttpd: RealServer = {
  name: 'lighttpd',
  program: withPart(findProgram('lighttpd'), '/usr/lib/lighttpd/mod_openssl.so'),
  trailers: onEvery('broken'),
  earlyHints: { ...onEvery('passed'), h2: 'broken', h2c: 'broken' },
  webSocket: ['h1', 'h1+tls', 'h2', 'h2c'],
  duplex: [],
  wantsLength: ['h2', 'h2c'],
  followsClient: true,
  refusesIn: 'handshake',

  codings: compresses
    ? { gzip: ['/text.txt'], deflate: ['/text.txt'], br: ['/text.txt'], zstd: ['/text.txt'] }
    : {},

  async start(stage: Stage, backend: Backend): Promise<Site> {
    const folder = stage.folder()
    mkdirSync(`${folder}/htdocs`)
    writeSite(`${folder}/htdocs`)
    const ports = await freePorts(['h1', 'tls', 'mutual'])
    const file = `${folder}/lighttpd.conf`
    writeFileSync(file, configuration(folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['-D', '-f', file],
      ports: Object.values(ports),
    })
    return {
      process,
      h1: `http://127.0.0.1:${ports.h1}`,
      tls: `https://127.0.0.1:${ports.tls}`,
      h2c: `http://127.0.0.1:${ports.h1}`,
      mutual: `https://127.0.0.1:${ports.mutual}`,
    }
  },
}
