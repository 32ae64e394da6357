/**
 * Runs programs one after another in this process, which `programs.ts` has started: loading the library once
 * is most of what a short program costs. Each is reported by itself. What is printed is kept, not shown.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from '../../src/index.ts'
import type { Program, Report } from './programs.ts'

/** Ends a program that does not come to its end, or does not print what it says. None that is well waits for it. */
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

/** The program can no longer be trusted to come to its end, and neither can those behind it. */
function giveUp(problem: string): void {
  process.send!({ name: current, problem, lines: [...lines] }, () => process.exit(1))
}

function onStray(error: unknown): void {
  giveUp(`not caught: ${text(error)}`)
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The first of the expected lines that has not come behind the ones before it. */
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
  // What one has chosen for the process must not be there for the next.
  const chosen = getGlobalDispatcher()
  setGlobalDispatcher(new Agent())
  await chosen.destroy()
}

process.on('uncaughtException', onStray)
process.on('unhandledRejection', onStray)
// A program that waits for nothing must not be kept alive by who listens to it: then it says so with its exit.
process.channel!.unref()
for (const program of JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Program[]) await run(program)
await getGlobalDispatcher().destroy()
process.disconnect()
setTimeout(() => {
  console.error('what the programs left open keeps the process running:', process.getActiveResourcesInfo())
  process.exit(1)
}, PATIENCE).unref()
