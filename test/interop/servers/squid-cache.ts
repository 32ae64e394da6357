/** Squid as a reverse proxy that caches in memory. Version 6 adds itself to Cache-Status. */
import { writeFileSync } from 'node:fs'
import type { HttpCache } from '../http-cache.ts'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import { squidArguments, squidSettings } from './squid-settings.ts'

const configuration = (folder: string, port: number, origin: number): string => `
http_port 127.0.0.1:${port} accel defaultsite=127.0.0.1:${origin} no-vhost
cache_peer 127.0.0.1 parent ${origin} 0 no-query originserver no-digest connect-fail-limit=1000000
http_access allow all
never_direct allow all
visible_hostname squid
${squidSettings(folder)}`

export const squidCache: HttpCache = {
  name: 'squid',
  program: findProgram('squid'),
  takesH2c: false,
  addsAge: true,

  async start(stage, originPort) {
    const folder = stage.folder()
    const port = await freePort()
    const file = `${folder}/squid.conf`
    writeFileSync(file, configuration(folder, port, originPort))
    await stage.start({
      file: this.program!,
      args: squidArguments(file, port),
      ports: [port],
    })
    const url = `http://127.0.0.1:${port}`
    return { h1: url, h2c: url }
  },
}
