/** stunnel: TLS in front of another server. */
import { writeFileSync } from 'node:fs'
import { CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

export const stunnel: { readonly program: string | null } = { program: findProgram('stunnel4') }

/** Returns the port that speaks TLS. */
export async function startStunnel(stage: Stage, port: number): Promise<number> {
  const secure = await freePort()
  const file = `${stage.folder()}/stunnel.conf`
  const lines = [
    'foreground = yes',
    'pid =',
    'debug = err',
    '[socks]',
    `accept = 127.0.0.1:${secure}`,
    `connect = 127.0.0.1:${port}`,
    `cert = ${CERT_FILE}`,
    `key = ${KEY_FILE}`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  await stage.start({ file: stunnel.program!, args: [file], ports: [secure] })
  return secure
}
