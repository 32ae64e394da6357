// `npm run bench -- --micro`: measures parts of the library in isolation, on compiled output, each file in separate
// processes. With --baseline DIR the two builds alternate.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onClientCore } from '../cores.mjs'
import { benchNode, preparePeers } from '../prepare.mjs'
import { columns, format, spread } from '../report.mjs'
import { advantage, summary } from '../statistics.mjs'

const FILES = ['response-parser', 'hpack', 'frame-writer', 'event-stream', 'headers', 'cookies']

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

export async function runMicroBenchmarks(library, { baseline, only, rounds, install }) {
  preparePeers(install)
  const builds = { library, ...(baseline === undefined ? {} : { baseline: resolve(baseline) }) }
  for (const file of FILES.filter((name) => only === null || only.includes(name))) {
    const runs = { library: [], baseline: [] }
    for (let round = 0; round < rounds; round++) {
      for (const [name, folder] of Object.entries(builds)) runs[name].push(runOnce(file, folder))
    }
    console.log(`${file}\n${table(runs, baseline !== undefined)}\n`)
  }
}

/** Benchmark → nanoseconds of one operation. */
function runOnce(file, folder) {
  const [command, ...args] = onClientCore([benchNode(), '--expose-gc', WORKER, file, folder])
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8' }))
}

function table(runs, compared) {
  const header = ['operation', 'ns', 'operations/s', ...(compared ? ['baseline ns', '× baseline'] : [])]
  const rows = Object.keys(runs.library[0]).map((name) => {
    const times = runs.library.map((run) => run[name])
    const row = [name, spread(summary(times), 0), format(1e9 / summary(times).median, 0)]
    if (!compared) return row
    const before = runs.baseline.map((run) => run[name])
    if (before.includes(undefined)) return [...row, '', '']
    return [...row, spread(summary(before), 0), spread(advantage(times, before, 'less'), 2)]
  })
  return columns([header, ...rows])
}
