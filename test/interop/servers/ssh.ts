/** OpenSSH as a SOCKS proxy: `ssh -D` to an sshd on loopback, both with keys that exist only for the test. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { freePorts } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { SocksProxy } from '../socks-proxy.ts'

const sshd = findProgram('sshd')
const ssh = findProgram('ssh')

/** sshd wants it, and only the service of the package makes it. */
const PRIVILEGE_FOLDER = '/run/sshd'

export const openssh: SocksProxy = {
  name: 'ssh -D',
  // Only root may start an sshd that lets a user in.
  program: process.getuid?.() === 0 && ssh !== null ? sshd : null,
  start: async (stage) => {
    const folder = stage.folder()
    const ports = await freePorts(['sshd', 'socks'])
    if (!existsSync(PRIVILEGE_FOLDER)) mkdirSync(PRIVILEGE_FOLDER)
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', `${folder}/${name}`])
    }
    copyFileSync(`${folder}/user.pub`, `${folder}/authorized`)
    const lines = [
      `Port ${ports.sshd}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/authorized`,
      'PermitRootLogin prohibit-password',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
    ]
    writeFileSync(`${folder}/sshd.conf`, `${lines.join('\n')}\n`)
    await stage.start({ file: sshd!, args: ['-D', '-e', '-f', `${folder}/sshd.conf`], ports: [ports.sshd] })
    const options = {
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      IdentitiesOnly: 'yes',
      BatchMode: 'yes',
      ExitOnForwardFailure: 'yes',
    }
    const args = [
      ...['-F', 'none', '-N', '-i', `${folder}/user`],
      ...['-p', String(ports.sshd), '-D', `127.0.0.1:${ports.socks}`],
      ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
      `${userInfo().username}@127.0.0.1`,
    ]
    await stage.start({ file: ssh!, args, ports: [ports.socks] })
    return `socks5://127.0.0.1:${ports.socks}`
  },
}
