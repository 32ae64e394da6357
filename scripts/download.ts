// The built command saves a body of 1 GB: it takes less than 80 MB of memory, and after it was killed in the middle, it
// goes on at the right byte: `npm run test:download -- --megabytes 1000`.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ended, hashOf, killAt, LargeOrigin, startCommand } from '../test/cli/large-download.ts'

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1000' } } })
const size = Number(values.megabytes) * 1_000_000
/** MB. */
const MOST_MEMORY = 80

const program = [fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))]
const folder = mkdtempSync(join(tmpdir(), 'ventuno-download-'))
const file = join(folder, 'file')
const problems: string[] = []
const origin = await LargeOrigin.start(size)
try {
  const whole = await ended(startCommand(program, ['-o', file, origin.url]))
  console.log(`${statSync(file).size} bytes to a file, at most ${whole.peak.toFixed(1)} MB of memory`)
  if (whole.code !== 0) problems.push(`exit code ${whole.code}: ${whole.stderr}`)
  if (whole.peak >= MOST_MEMORY) problems.push(`more than ${MOST_MEMORY} MB of memory`)
  rmSync(file)

  const killed = await killAt(startCommand(program, ['-o', file, origin.url]), file, size / 3)
  const resumed = await ended(startCommand(program, ['-C', '-', '-o', file, origin.url]))
  console.log(`killed after ${killed} bytes, resumed at byte ${origin.starts.at(-1)}`)
  if (resumed.code !== 0) problems.push(`exit code ${resumed.code}: ${resumed.stderr}`)
  if (origin.starts.at(-1) !== killed) problems.push('it did not go on where the file ended')
  if (resumed.peak >= MOST_MEMORY) problems.push(`more than ${MOST_MEMORY} MB of memory after that`)
  if ((await hashOf(file)) !== origin.hash()) problems.push('the file is not what was sent')
} finally {
  origin.close()
  rmSync(folder, { recursive: true })
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
