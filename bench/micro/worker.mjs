// Runs the benchmarks of one file and prints the nanoseconds of one operation of each.
import { pathToFileURL } from 'node:url'

/** Long enough for the optimising compiler, and for some collections in the measured part. */
const WARMUP_MS = 300
const MEASURED_MS = 300

/** The last result goes here, so that no call can be optimised away. */
let kept

const [file, folder] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(`${folder}/${path}`).href)
const { benchmarks } = await import(`./${file}.mjs`)
const results = {}
for (const [name, { run, operations = 1 }] of Object.entries(await benchmarks(load))) {
  runFor(run, WARMUP_MS)
  globalThis.gc()
  const { ms, calls } = runFor(run, MEASURED_MS)
  results[name] = (ms * 1e6) / (calls * operations)
}
if (kept instanceof Error) throw kept
console.log(JSON.stringify(results))

function runFor(run, limit) {
  const begin = performance.now()
  let calls = 0
  let batch = 1
  let ms = 0
  while (ms < limit) {
    for (let i = 0; i < batch; i++) kept = run()
    calls += batch
    ms = performance.now() - begin
    // Reads the clock about once per millisecond.
    if (ms < 1) batch *= 2
  }
  return { ms, calls }
}
