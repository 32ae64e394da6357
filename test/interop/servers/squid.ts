/** Squid as a forward proxy that requires authentication. It caches nothing. */
import { chmodSync, writeFileSync } from 'node:fs'
import type { ForwardProxy } from '../forward-proxy.ts'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'
import { squidArguments, squidSettings } from './squid-settings.ts'

/** Reads lines `name password` and answers whether they match (squid's helper protocol). */
const helper = (name: string, password: string): string => `#!/bin/sh
while read -r line; do
  if [ "$line" = '${name} ${password}' ]; then echo OK; else echo ERR; fi
done
`

const configuration = (folder: string, port: number): string => `
http_port 127.0.0.1:${port}
auth_param basic program ${folder}/helper
auth_param basic children 1 startup=1 idle=1
auth_param basic realm interop
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
visible_hostname localhost
${squidSettings(folder)}`

export const squid: ForwardProxy = {
  name: 'squid',
  program: findProgram('squid'),

  async start(stage: Stage, { name, password }): Promise<string> {
    const folder = stage.folder()
    writeFileSync(`${folder}/helper`, helper(name, password))
    chmodSync(`${folder}/helper`, 0o755)
    const port = await freePort()
    writeFileSync(`${folder}/squid.conf`, configuration(folder, port))
    await stage.start({
      file: this.program!,
      args: squidArguments(`${folder}/squid.conf`, port),
      ports: [port],
    })
    return `http://127.0.0.1:${port}`
  },
}
