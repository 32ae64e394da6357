/** Tinyproxy as a forward proxy, with or without a name and a password. */
import { writeFileSync } from 'node:fs'
import type { Credentials, ForwardProxy } from '../forward-proxy.ts'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

const program = findProgram('tinyproxy')

export const tinyproxy: ForwardProxy = {
  name: 'tinyproxy',
  program,
  start: startTinyproxy,
}

/** Returns its origin. */
export async function startTinyproxy(stage: Stage, credentials: Credentials | null): Promise<string> {
  const folder = stage.folder()
  const port = await freePort()
  const file = `${folder}/tinyproxy.conf`
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 600',
    'MaxClients 100',
    'Allow 127.0.0.1',
    'LogLevel Error',
    ...(credentials === null ? [] : [`BasicAuth ${credentials.name} ${credentials.password}`]),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  await stage.start({ file: program!, args: ['-d', '-c', file], ports: [port] })
  return `http://127.0.0.1:${port}`
}
