/** Caddy: files, and a reverse proxy. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Backend } from '../backend.ts'
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { onEvery, type RealServer, type Site, WIRES } from '../real-server.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

function configuration(
  folder: string,
  ports: Record<'h1' | 'tls' | 'mutual', number>,
  backend: number,
): string {
  const site = `
  bind 127.0.0.1
  root * ${folder}/htdocs
  handle /backend/* {
    reverse_proxy 127.0.0.1:${backend} {
      flush_interval -1
    }
  }
  handle /refused {
    respond 413
  }
  handle {
    encode zstd gzip
    file_server
  }`
  return `
{
  admin off
  auto_https off
  grace_period 1s
  log {
    level ERROR
  }
  servers {
    protocols h1 h2 h2c
    strict_sni_host insecure_off
  }
}
http://:${ports.h1} {${site}
}
https://:${ports.tls} {${site}
  tls ${CERT_FILE} ${KEY_FILE}
}
https://:${ports.mutual} {${site}
  tls ${CERT_FILE} ${KEY_FILE} {
    client_auth {
      mode require_and_verify
      trusted_ca_cert_file ${AUTHORITY_FILE}
    }
  }
}
`
}

export const caddy: RealServer = {
  name: 'caddy',
  program: findProgram('caddy'),
  trailers: onEvery('passed'),
  earlyHints: onEvery('passed'),
  webSocket: ['h1', 'h1+tls'],
  duplex: ['h2', 'h2c'],
  breaksEchoes: ['h1', 'h1+tls'],
  codings: { gzip: ['/text.txt'], zstd: ['/text.txt'] },
  refusesIn: 'handshake',
  asksForBodies: WIRES,
  refusal: { path: '/refused', status: 413, wires: WIRES },

  async start(stage: Stage, backend: Backend): Promise<Site> {
    const folder = stage.folder()
    mkdirSync(`${folder}/htdocs`)
    writeSite(`${folder}/htdocs`)
    const ports = await freePorts(['h1', 'tls', 'mutual'])
    const file = `${folder}/Caddyfile`
    writeFileSync(file, configuration(folder, ports, backend.port))
    const process = await stage.start({
      file: this.program!,
      args: ['run', '--config', file, '--adapter', 'caddyfile'],
      ports: Object.values(ports),
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
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
