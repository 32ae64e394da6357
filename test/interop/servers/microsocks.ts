/** microsocks, with or without a name and a password. */
import { freePort } from '../ports.ts'
import { findProgram, type ServerProcess } from '../server-process.ts'
import type { Credentials, SocksProxy } from '../socks-proxy.ts'
import type { Stage } from '../stage.ts'

const program = findProgram('microsocks')

export const microsocks: SocksProxy = {
  name: 'microsocks',
  program,
  start: async (stage, credentials) => (await startMicrosocks(stage, credentials)).url,
}

export interface RunningMicrosocks {
  readonly url: string
  readonly port: number
  readonly process: ServerProcess
}

export async function startMicrosocks(
  stage: Stage,
  credentials: Credentials | null,
  givenPort?: number,
): Promise<RunningMicrosocks> {
  const port = givenPort ?? (await freePort())
  const login = credentials === null ? [] : ['-u', credentials.name, '-P', credentials.password]
  const args = ['-i', '127.0.0.1', '-p', String(port), ...login]
  const process = await stage.start({ file: program!, args, ports: [port] })
  return { url: `socks5://127.0.0.1:${port}`, port, process }
}
