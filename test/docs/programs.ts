/** Runs programs in a separate process and reports the result of each. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceUrl } from '../support/sources.ts'

export interface Program {
  readonly name: string
  readonly file: string
  /** Lines it prints, in this order, possibly among others. */
  readonly expected: readonly string[]
}

export interface Report {
  readonly name: string
  readonly problem: string | null
  readonly lines: readonly string[]
}

const runner = fileURLToPath(sourceUrl('test/docs/run-programs.ts'))
const hook = new URL('./register-ventuno.mjs', import.meta.url).href

/** The problems, one message for each program that failed. */
export async function runPrograms(programs: readonly Program[], folder: string): Promise<string[]> {
  const list = join(folder, 'programs.json')
  writeFileSync(list, JSON.stringify(programs))
  const child = fork(runner, [list], {
    cwd: folder,
    execArgv: ['--import', import.meta.resolve('tsx'), '--import', hook],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let stderr = ''
  child.stdout!.resume()
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  const problems: string[] = []
  const done = new Set<string>()
  child.on('message', (report: Report) => {
    done.add(report.name)
    if (report.problem === null) return
    problems.push(`${report.name}\n${report.problem}\nprinted: ${report.lines.join('\n         ')}`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  for (const { name } of programs) if (!done.has(name)) problems.push(`${name}\ndid not come to its end`)
  if (code !== 0) problems.push(`the process ended with ${code}: ${stderr}`)
  return problems
}
