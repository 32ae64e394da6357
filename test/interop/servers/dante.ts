/**
 * Dante, with rules: 127.0.0.2 is forbidden. It knows the passwords of the system's users only, so that with credentials
 * nothing but a refusal can be tested.
 */
import { writeFileSync } from 'node:fs'
import { freePort } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { SocksProxy } from '../socks-proxy.ts'

const program = findProgram('danted')

/** The address that the rules forbid. */
export const FORBIDDEN = '127.0.0.2'

export const dante: SocksProxy = {
  name: 'dante',
  program,
  start: async (stage, credentials) => {
    const port = await freePort()
    const file = `${stage.folder()}/danted.conf`
    const method = credentials === null ? 'none' : 'username'
    const lines = [
      'logoutput: stderr',
      `internal: 127.0.0.1 port = ${port}`,
      'external: 127.0.0.1',
      'clientmethod: none',
      `socksmethod: ${method}`,
      ...(process.getuid?.() === 0 ? ['user.privileged: root', 'user.unprivileged: nobody'] : []),
      'client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }',
      `socks block { from: 0.0.0.0/0 to: ${FORBIDDEN}/32 }`,
      'socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }',
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    await stage.start({ file: program!, args: ['-f', file, '-p', `${file}.pid`], ports: [port] })
    return `socks5://127.0.0.1:${port}`
  },
}
