/** Runs a script of this folder in a separate process and returns its output. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

export interface Outcome {
  /** The lines on standard error, with names in place of values that differ from run to run. */
  readonly lines: string[]
  /** The script's report on standard output. */
  readonly report: Report
}

export interface Report {
  readonly pid: number
  readonly ports: Record<string, number>
  readonly heard: string[]
  readonly caught: string[]
  readonly answers: string[]
}

/** `flags` is the value of RUNTIME_DEBUG; undefined leaves it out. */
export async function runScript(
  script: string,
  flags: string | undefined,
  args: readonly string[],
): Promise<Outcome> {
  const { RUNTIME_DEBUG: _, NODE_DEBUG: __, ...environment } = process.env
  const child = spawn(
    process.execPath,
    [...sourceLoader, fileURLToPath(sourceUrl(`test/debug/${script}`)), ...args],
    {
      env: flags === undefined ? environment : { ...environment, RUNTIME_DEBUG: flags },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  assert.equal(code, 0, errors)
  const report = JSON.parse(output) as Report
  assert.ok(errors === '' || errors.endsWith('\n'), 'whole lines only')
  return {
    lines: errors
      .split('\n')
      .slice(0, -1)
      .map((line) => named(line, report)),
    report,
  }
}

function named(line: string, { pid, ports }: Report): string {
  let result = line.replace(` ${pid}: `, ' PID: ')
  for (const [name, port] of Object.entries(ports)) result = result.replaceAll(`:${port}`, `:<${name}>`)
  return result
}
