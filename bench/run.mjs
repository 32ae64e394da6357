// `npm run bench`: prepares, measures, reports. See docs/performance.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { chart } from './chart.mjs'
import { startConnectProxy } from './connect-proxy.mjs'
import { PINNED } from './cores.mjs'
import { describeMachine } from './machine.mjs'
import { markdownTable } from './markdown.mjs'
import { runScenario } from './measure.mjs'
import { startNginx } from './nginx.mjs'
import { readOptions, USAGE } from './options.mjs'
import { prepareLibrary, prepareModules, preparePeers, preparePrograms } from './prepare.mjs'
import { goalTable, machineLine, scenarioTable, slowerThanPeers } from './report.mjs'
import { chooseScenarios, SCENARIOS } from './scenarios.mjs'
import { startSideServers } from './side-servers.mjs'

/** Other work on the machine distorts the measurement. */
const BUSY_LOAD = 0.5

let options
try {
  options = readOptions(process.argv.slice(2))
  await run()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

async function run() {
  if (options.help) process.stdout.write(USAGE)
  else if (options.list) for (const { name, title } of SCENARIOS) console.log(`${name.padEnd(26)} ${title}`)
  else if (options.from !== undefined) writeAgain()
  else if (options.micro) await runMicro()
  else await runAll()
}

async function runMicro() {
  const { runMicroBenchmarks } = await import('./micro/run.mjs')
  await runMicroBenchmarks(prepareModules(absolute(options.library)), options)
}

async function runAll() {
  const scenarios = chooseScenarios(options)
  if (scenarios.length === 0) throw new Error('no such scenario; --list names them')
  console.error(estimate(scenarios))
  const library = prepareLibrary(absolute(options.library))
  const peers = preparePeers(options.install)
  const programs = preparePrograms(options.install)
  const machine = describeMachine(peers)
  console.log(`${machineLine(machine)}\n`)
  if (!PINNED) console.error('warning: client and server share a core')
  if (machine.load > BUSY_LOAD)
    console.error(`warning: the load is ${machine.load}; only a quiet machine gives figures`)

  const stops = []
  process.on('exit', () => {
    for (const stop of stops) stop()
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
  const nginx = await startNginx()
  stops.push(nginx.stop)
  const side = await startSideServers(nginx.ports)
  stops.push(side.stop)
  const proxy = await startConnectProxy()
  stops.push(proxy.stop)

  const setting = {
    ports: { ...nginx.ports, ...side.ports, ...proxy.ports },
    builds: { library, baseline: absolute(options.baseline) },
    programs,
    progress,
    rounds: options.rounds,
    seconds: options.seconds,
    warmup: options.warmup,
    retries: options.retries,
    requests: options.requests,
    together: options.together,
  }
  const results = []
  for (const scenario of scenarios) {
    const long = scenario.kind === 'million' ? { rounds: 1, retries: 0 } : {}
    const result = await runScenario(scenario, { ...setting, ...long })
    results.push(result)
    console.log(scenarioTable(result))
    // After each scenario, so that an interrupted run keeps its results.
    write(results, machine)
  }
  for (const text of [goalTable(results), slowerThanPeers(results)]) if (text !== '') console.log(text)
  process.exit()
}

/** A rough estimate: runs without a fixed duration are counted as if they had one. */
function estimate(scenarios) {
  const runs = scenarios.reduce((sum, { candidates }) => sum + candidates.length, 0) * options.rounds
  const minutes = (runs * (options.seconds + options.warmup + 0.3)) / 60
  return `${scenarios.length} scenarios, ${runs} runs, about ${Math.ceil(minutes)} min`
}

function write(results, machine) {
  const { rounds, seconds, warmup } = options
  if (options.json !== undefined) {
    const figures = { date: new Date().toISOString(), machine, rounds, seconds, warmup, scenarios: results }
    writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
  }
  if (options.markdown !== undefined) writeFileSync(options.markdown, markdownTable(results))
  if (options.svg !== undefined) writeFileSync(options.svg, chart(results, machine))
}

/** What is written about figures, from figures of an earlier run. */
function writeAgain() {
  const { scenarios, machine } = JSON.parse(readFileSync(options.from, 'utf8'))
  if (options.json !== undefined)
    throw new Error('--json writes the figures of a run, and --from runs nothing')
  write(scenarios, machine)
}

function absolute(folder) {
  return folder === undefined ? undefined : resolve(folder)
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
