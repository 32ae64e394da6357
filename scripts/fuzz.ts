// Fuzzes for any length of time: `tsx scripts/fuzz.ts --minutes 10 --seed 1`. Each target gets an equal share of the
// time. `--target name` runs only targets whose name contains it; `--record` only records the corpora again. A finding
// is minimised and written to test/fuzz/corpus/regressions, which the test replays from then on. The exit code is
// not zero if there was a finding.
import { parseArgs } from 'node:util'
import { saveRegression } from '../test/fuzz/corpus.ts'
import { fuzz, minimise, TARGETS, type Tally } from '../test/fuzz/fuzzer.ts'
import { recordAll } from '../test/fuzz/recording/record.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})

/** Number of executions between two looks at the clock, with a sign of life in long runs. */
const CLOCK_INTERVAL = 64

if (values.record) await recordAll((line) => console.log(line))
else await run()

async function run(): Promise<void> {
  const targets = TARGETS.filter(({ name }) => name.includes(values.target))
  const share = (Number(values.minutes) * 60_000) / targets.length
  const seed = Number(values.seed)
  console.log(`seed ${seed}, ${Math.round(share / 1_000)} s for each of ${targets.length} targets`)
  const total: Tally = { executions: 0, bytes: 0 }
  for (const [index, target] of targets.entries()) {
    const tally: Tally = { executions: 0, bytes: 0 }
    const end = Date.now() + share
    let isTime = true
    const goesOn = ({ executions }: Tally): boolean => {
      if (executions % CLOCK_INTERVAL === 0) isTime = Date.now() < end
      return isTime
    }
    let findings = 0
    for (let round = 0; isTime; round++) {
      const finding = await fuzz(target, seed + index * 1_000_003 + round * 7_919, tally, goesOn)
      if (finding === null) break
      const small = await minimise(target, finding)
      const file = saveRegression(target.name, small.seed, small.input)
      console.log(`${target.name}: ${small.error.stack}\n${small.input.bytes.length} bytes in ${file}`)
      process.exitCode = 1
      findings++
      // More instances of the same fault add no information.
      if (findings === 3) break
    }
    const { executions, bytes } = tally
    total.executions += executions
    total.bytes += bytes
    console.log(`${target.name.padEnd(22)} ${line(tally)}, ${findings} findings`)
  }
  console.log(`${'all'.padEnd(22)} ${line(total)}`)
}

function line({ executions, bytes }: Tally): string {
  return `${executions.toLocaleString('en')} executions, ${bytes.toLocaleString('en')} bytes`
}
