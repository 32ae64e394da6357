/** The HTTP server of the Go library, in a small program that is compiled first. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { writeSite } from '../content.ts'
import { freePorts } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

export const go: string | null = findProgram('go')

/** The origins for cleartext and TLS. */
export async function startGo(stage: Stage): Promise<{ readonly h1: string; readonly tls: string }> {
  const folder = stage.folder()
  mkdirSync(`${folder}/htdocs`)
  writeSite(`${folder}/htdocs`)
  copyFileSync(fileURLToPath(new URL('./expecting.go', import.meta.url)), `${folder}/main.go`)
  const env = {
    ...process.env,
    GOCACHE: `${folder}/cache`,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
  }
  execFileSync(go!, ['build', '-o', 'server', 'main.go'], { cwd: folder, env, stdio: 'pipe' })
  const ports = await freePorts(['h1', 'tls'])
  const args = [`${folder}/htdocs`, String(ports.h1), String(ports.tls), CERT_FILE, KEY_FILE]
  await stage.start({ file: `${folder}/server`, args, ports: Object.values(ports) })
  return { h1: `http://127.0.0.1:${ports.h1}`, tls: `https://127.0.0.1:${ports.tls}` }
}
