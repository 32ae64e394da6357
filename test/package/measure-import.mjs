// The cost of loading: time, and memory above that of the runtime alone; of both builds in `dist`, and of undici.
// Usage: node test/package/measure-import.mjs [runs] [path of a node]
// Each run is a separate process; the candidates take turns, so that a busy machine affects all equally.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const RUNS = Number(process.argv[2] ?? 21)
const RUNTIME = process.argv[3] ?? process.execPath

const nothing = join(tmpdir(), 'ventuno-nothing.mjs')
writeFileSync(nothing, 'export {}\n')
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const candidates = {
  nothing,
  imported: here('../../dist/index.js'),
  required: here('../../dist/index.cjs'),
  undici: here('node_modules/undici/index.js'),
}

const load = (file) =>
  file.endsWith('.cjs')
    ? `process.getBuiltinModule('node:module').createRequire(${JSON.stringify(file)})(${JSON.stringify(file)})`
    : `await import(${JSON.stringify(pathToFileURL(file).href)})`
const SCRIPT = (file) => `
  const start = performance.now()
  ${load(file)}
  const time = performance.now() - start
  const { rss, heapUsed } = process.memoryUsage()
  console.log(JSON.stringify({ time, rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 }))`

const results = new Map(Object.keys(candidates).map((name) => [name, []]))
for (let run = 0; run < RUNS; run++) {
  for (const [name, file] of Object.entries(candidates)) {
    const { stdout, status } = spawnSync(RUNTIME, ['--input-type=module', '-e', SCRIPT(file)], {
      encoding: 'utf8',
    })
    if (status === 0) results.get(name).push(JSON.parse(stdout))
  }
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const of = (name, key) => median(results.get(name).map((result) => result[key]))
const above = (name, key) => of(name, key) - of('nothing', key)
console.log(`${spawnSync(RUNTIME, ['--version'], { encoding: 'utf8' }).stdout.trim()}, median of ${RUNS}`)
console.log('            import ms   resident MB   heap MB   (memory: above an empty module)')
for (const name of Object.keys(candidates)) {
  const [time, rss, heap] = [of(name, 'time'), above(name, 'rss'), above(name, 'heap')]
  console.log(
    `${name.padEnd(10)}${time.toFixed(1).padStart(11)}${rss.toFixed(1).padStart(14)}${heap.toFixed(2).padStart(10)}`,
  )
}
