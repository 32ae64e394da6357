/**
 * Runs programs one after another in this process, which `programs.ts` has started: loading the library is most of the
 * cost of a short program. Each is reported separately. Output is kept, not displayed.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from '../../src/index.ts'
import type { Program, Report } from './programs.ts'

/** Ends a program that does not finish or does not print the expected lines. A correct program never waits for it. */
const PATIENCE = 60_000

const lines: string[] = []
let heard = (): void => {}
let current = ''
console.log = (...args: unknown[]): void => {
  lines.push(...format(...args).split('\n'))
  heard()
}

function tell(report: Report): void {
  process.send!(report)
}

/** Neither this program nor the later ones can be trusted to finish. */
function giveUp(problem: string): void {
  process.send!({ name: current, problem, lines: [...lines] }, () => process.exit(1))
}

function onStray(error: unknown): void {
  giveUp(`not caught: ${text(error)}`)
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The first expected line that was not printed after the previous ones. */
function missing(expected: readonly string[]): string | null {
  let at = 0
  for (const line of lines) if (line.trim() === expected[at]) at++
  return expected[at] ?? null
}

function printed(expected: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      heard = () => {}
      resolve(missing(expected))
    }
    const timer = setTimeout(finish, PATIENCE)
    heard = () => {
      if (missing(expected) === null) finish()
    }
    heard()
  })
}

async function run({ name, file, expected }: Program): Promise<void> {
  current = name
  lines.length = 0
  let problem: string | null = null
  const watch = setTimeout(giveUp, PATIENCE, 'does not come to its end').unref()
  try {
    await import(pathToFileURL(file).href)
    const line = await printed(expected)
    if (line !== null) problem = `did not print: ${line}`
  } catch (error) {
    problem = text(error)
  }
  clearTimeout(watch)
  tell({ name, problem, lines: [...lines] })
  // The global dispatcher of one program must not affect the next.
  const chosen = getGlobalDispatcher()
  setGlobalDispatcher(new Agent())
  await chosen.destroy()
}

process.on('uncaughtException', onStray)
process.on('unhandledRejection', onStray)
// The channel must not keep a finished program alive: a program that never settles ends the process instead.
process.channel!.unref()
for (const program of JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Program[]) await run(program)
await getGlobalDispatcher().destroy()
process.disconnect()
setTimeout(() => {
  console.error('what the programs left open keeps the process running:', process.getActiveResourcesInfo())
  process.exit(1)
}, PATIENCE).unref()
