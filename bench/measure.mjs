// Runs a scenario round by round: in each round every candidate once, each in a separate process.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CANDIDATES, SUBJECT } from './candidates/index.mjs'
import { CHUNKED_BODIES } from './chunks.mjs'
import { onClientCore } from './cores.mjs'
import { METRICS } from './metrics.mjs'
import { BODIES } from './nginx.mjs'
import { BENCH, benchNode, CERTS } from './prepare.mjs'
import { advantage, summary } from './statistics.mjs'
import { stealMeter } from './steal.mjs'
import { runTool } from './tools.mjs'

/** Time that a run may take beyond its measured seconds before it is killed. */
const GRACE_SECONDS = 90
const MILLION_SECONDS = 900

/** Milliseconds that a process runs while the others of its round are stopped. */
const TURN = 200

/** A run that lost a larger share of a core to the host of the virtual machine is repeated. */
const CALM = 0.02

/**
 * `setting`: ports by wire, builds of ventuno by name, installed programs, `seconds`, `warmup`, `rounds`,
 * `retries`, `requests`, `together`.
 */
export async function runScenario(scenario, setting) {
  const runs = new Map()
  for (const name of scenario.candidates) {
    runs.set(name, { name, rounds: [], note: reasonForAbsence(name, setting) })
  }
  for (let round = 0; round < setting.rounds; round++) {
    // Each round starts with a different candidate, so that none always follows the same one.
    const active = [...runs.values()].filter((run) => run.note === null)
    const order = active.map((_, i) => active[(i + round) % active.length])
    const keep = (run, { metrics, skipped, failed, steal }) => {
      if (metrics !== undefined) run.rounds[round] = { ...metrics, steal }
      else run.note = skipped === undefined ? `failed: ${failed}` : `skipped: ${skipped}`
    }
    if (setting.together) {
      setting.progress(`${scenario.name}: round ${round + 1} of ${setting.rounds}`)
      const results = await runTogether(order, scenario, setting)
      for (const [i, run] of order.entries()) keep(run, results[i])
    } else {
      for (const run of order) {
        setting.progress(`${scenario.name}: round ${round + 1} of ${setting.rounds}, ${run.name}`)
        keep(run, await runCalmly(run.name, scenario, setting))
      }
    }
  }
  setting.progress('')
  return summarize(scenario, [...runs.values()])
}

/** The first calm run, or the least disturbed of a few. */
async function runCalmly(name, scenario, setting) {
  let best
  for (let tries = 0; tries <= setting.retries; tries++) {
    const stealSoFar = stealMeter()
    const result = await runOnce(name, scenario, setting)
    if (result.metrics === undefined) return result
    result.steal = stealSoFar()
    if (best === undefined || result.steal < best.steal) best = result
    if (best.steal <= CALM) break
  }
  return best
}

/**
 * All at once, and only one of them running at any time: a machine whose speed changes from second to second
 * changes it for all. Their times are longer by what they spend stopped.
 */
async function runTogether(runs, scenario, setting) {
  const stealSoFar = stealMeter()
  const count = runs.length
  const longer = { ...setting, seconds: setting.seconds * count, warmup: setting.warmup * count }
  const children = []
  const results = Promise.all(runs.map(({ name }) => runOnce(name, scenario, longer, children)))
  const signal = (child, name) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name)
  }
  for (const child of children) signal(child, 'SIGSTOP')
  let turn = -1
  const timer = setInterval(() => {
    if (turn >= 0) signal(children[turn % count], 'SIGSTOP')
    turn++
    signal(children[turn % count], 'SIGCONT')
  }, TURN)
  try {
    return (await results).map((result) => {
      const { metrics } = result
      if (metrics?.rps !== undefined) metrics.rps *= count
      return { ...result, steal: stealSoFar() }
    })
  } finally {
    clearInterval(timer)
  }
}

/** Returns null if the candidate can run. */
function reasonForAbsence(name, { programs }) {
  const { tool } = CANDIDATES[name]
  return tool !== undefined && !programs.has(tool) ? `skipped: ${tool} is not installed` : null
}

/** `children`: gets the process. */
function runOnce(name, scenario, setting, children = []) {
  const candidate = CANDIDATES[name]
  const port = setting.ports[scenario.port ?? scenario.wire]
  if (candidate.tool !== undefined) return runTool(candidate.tool, scenario, port, setting.seconds)
  const library = candidate.build === undefined ? null : setting.builds[candidate.build]
  const job = {
    scenario: {
      ...scenario,
      feature: candidate.featureless ? undefined : scenario.feature,
      api: candidate.api ?? scenario.api,
    },
    port,
    ports: setting.ports,
    library,
    open: openerOf(name, scenario),
    specifier: library === null ? candidate.specifier : pathToFileURL(join(library, 'index.js')).href,
    ca: scenario.wire === 'h1-tls' || scenario.wire === 'h2' ? join(CERTS, 'ca.pem') : null,
    bytes: scenario.wire === 'ws' ? scenario.body.bytes : { ...BODIES, ...CHUNKED_BODIES }[scenario.path],
    seconds: setting.seconds,
    warmup: setting.warmup,
    requests: setting.requests,
  }
  return runWorker(candidate.systemNode ? process.execPath : benchNode(), job, children)
}

/** Module and export that open a session, or a gateway. */
function openerOf(name, { wire, kind }) {
  if (kind === 'gateway') return ['gateway.mjs', CANDIDATES[name].gateway]
  if (wire === 'ws' && name !== 'ws') return ['websocket.mjs', 'openStandard']
  return CANDIDATES[name].open
}

function runWorker(node, job, children) {
  const seconds = job.scenario.kind === 'million' ? MILLION_SECONDS : job.seconds + job.warmup + GRACE_SECONDS
  const [command, ...args] = onClientCore([
    node,
    '--expose-gc',
    '--no-warnings',
    join(BENCH, 'worker.mjs'),
    JSON.stringify(job),
  ])
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    const out = []
    const err = []
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.stderr.on('data', (chunk) =>
      job.scenario.kind === 'million' ? process.stderr.write(chunk) : err.push(chunk),
    )
    const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(out).toString()))
      } catch {
        const said =
          Buffer.concat(err)
            .toString()
            .match(/^\w*Error.*$/m)?.[0] ?? ''
        resolve({ failed: signal === null ? `exit ${code} ${said}` : `no answer after ${seconds} s` })
      }
    })
  })
}

function summarize(scenario, runs) {
  const metrics = METRICS[scenario.kind]
  const values = (run, key) => Array.from(run.rounds, (round) => round?.[key])
  const subject = runs.find((run) => run.name === SUBJECT)
  const candidates = runs.map((run) => {
    if (!run.rounds.some(Boolean)) return { name: run.name, note: run.note, metrics: null, advantage: null }
    const of = (make) => Object.fromEntries(metrics.map((metric) => [metric.key, make(metric)]))
    return {
      name: run.name,
      note: run.note,
      metrics: of(({ key }) => summary(values(run, key).filter((value) => value !== undefined))),
      advantage:
        subject === undefined || subject === run
          ? null
          : of(({ key, better }) => advantage(values(subject, key), values(run, key), better)),
      rounds: run.rounds,
    }
  })
  return {
    name: scenario.name,
    title: scenario.title,
    kind: scenario.kind,
    goals: scenario.goals ?? {},
    limits: scenario.limits ?? {},
    judged: scenario.judged ?? metrics[0].key,
    metrics,
    candidates,
    disturbed: disturbance(runs),
  }
}

/** How many of the runs stayed disturbed, and the largest share that one of them lost. */
function disturbance(runs) {
  const shares = runs.flatMap((run) => run.rounds.filter(Boolean).map((round) => round.steal))
  return {
    runs: shares.filter((share) => share > CALM).length,
    of: shares.length,
    most: Math.max(0, ...shares),
  }
}
