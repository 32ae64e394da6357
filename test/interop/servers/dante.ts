/**
 * Dante, with rules: 127.0.0.2 is forbidden. It knows the passwords of the system's users only, so that with credentials it
 * runs on top of a library (nss_wrapper) that shows it another system.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { freePort } from '../ports.ts'
import { findProgram, withPart } from '../server-process.ts'
import type { Credentials, SocksProxy } from '../socks-proxy.ts'

const program = findProgram('danted')

/** Null if it cannot be given users. */
export const danteWithUsers: string | null = withPart(program, '/usr/share/doc/libnss-wrapper')

/** The address that the rules forbid. */
export const FORBIDDEN = '127.0.0.2'

export const dante: SocksProxy = {
  name: 'dante',
  program,
  start: async (stage, credentials) => {
    const port = await freePort()
    const folder = stage.folder()
    const file = `${folder}/danted.conf`
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
    const env = credentials === null ? {} : addUser(folder, credentials)
    await stage.start({ file: program!, args: ['-f', file, '-p', `${file}.pid`], ports: [port], env })
    return `socks5://127.0.0.1:${port}`
  },
}

/** Writes the files of a system with one more user. Returns the environment of programs that are to see it. */
function addUser(folder: string, { name, password }: Credentials): NodeJS.ProcessEnv {
  const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: password }).toString().trim()
  const files = { passwd: `${folder}/passwd`, group: `${folder}/group`, shadow: `${folder}/shadow` }
  writeFileSync(files.passwd, `${readFileSync('/etc/passwd', 'utf8')}${name}:x:12345:12345::/:/bin/false\n`)
  writeFileSync(files.group, `${readFileSync('/etc/group', 'utf8')}some:x:12345:\n`)
  writeFileSync(files.shadow, `${name}:${hash}:19000:0:99999:7:::\n`)
  return {
    LD_PRELOAD: 'libnss_wrapper.so',
    NSS_WRAPPER_PASSWD: files.passwd,
    NSS_WRAPPER_GROUP: files.group,
    NSS_WRAPPER_SHADOW: files.shadow,
  }
}
