// Other runtimes and languages beside ventuno: 50 connections to the same nginx, one core for each side. Not part of
// `npm run bench`, because it needs programs that this project does not install:
//
//   BUN=/path/to/bun DENO=/path/to/deno node bench/neighbours/run.mjs same|real [rounds] [seconds] [warm-up seconds]
//
// Go and wrk are looked for in PATH. A client whose program is missing is left out by name. Prints a table in Markdown.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onClientCore } from '../cores.mjs'
import { BODIES, startNginx } from '../nginx.mjs'
import { BENCH, benchNode, prepareLibrary, preparePeers, preparePrograms, programPath } from '../prepare.mjs'
import { format } from '../report.mjs'
import { summary } from '../statistics.mjs'
import { runTool } from '../tools.mjs'

const CONNECTIONS = 50

const [traffic = 'same', rounds = 3, seconds = 1, warmup = 2] = process.argv.slice(2)
if (traffic !== 'same' && traffic !== 'real') throw new Error('the traffic is "same" or "real"')

const script = fileURLToPath(new URL('client.mjs', import.meta.url))
const node = benchNode()
const folder = mkdtempSync(join(tmpdir(), 'ventuno-neighbours-'))
const library = pathToFileURL(join(prepareLibrary(), 'index.js')).href
const peers = preparePeers(false)
const programs = preparePrograms(false)
const undici = pathToFileURL(join(BENCH, 'node_modules/undici/index.js')).href

const CLIENTS = [
  { name: 'ventuno, `request()`', command: [node, script], specifier: library, api: 'request' },
  { name: 'ventuno, `fetch`', command: [node, script], specifier: library, api: 'fetch' },
  {
    name: `undici ${peers.undici}, \`request()\``,
    command: [node, script],
    specifier: undici,
    api: 'request',
  },
  { name: `undici ${peers.undici}, \`fetch\``, command: [node, script], specifier: undici, api: 'fetch' },
  { name: `Node ${peers.node}, \`fetch\``, command: [node, script] },
  fromVariable('Bun', /^(\S+)/, [script]),
  fromVariable('Deno', /^deno (\S+)/, ['run', '-A', '--no-config', script]),
  goClient(),
  { name: 'wrk', tool: 'wrk', command: programs.has('wrk') && traffic === 'same' ? ['wrk'] : null },
]

/** A program of another project, by the variable with its name or in PATH. */
function fromVariable(name, pattern, args) {
  const program = process.env[name.toUpperCase()] ?? programPath(name.toLowerCase())
  if (program === null) return { name, command: null }
  const [, version] = pattern.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))
  return { name: `${name} ${version}, \`fetch\``, command: [program, ...args] }
}

function goClient() {
  if (programPath('go') === null) return { name: 'Go', command: null }
  const binary = join(folder, 'client')
  execFileSync('go', ['build', '-o', binary, fileURLToPath(new URL('client.go', import.meta.url))], {
    env: { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off' },
  })
  const [version] = /[\d.]+/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }))
  return { name: `Go ${version}, net/http`, command: [binary] }
}

const nginx = await startNginx()
const results = new Map(CLIENTS.map((client) => [client, []]))
try {
  const active = CLIENTS.filter(({ command }) => command !== null)
  for (let round = 0; round < Number(rounds); round++) {
    for (let i = 0; i < active.length; i++) {
      const client = active[(i + round) % active.length]
      const result = await run(client)
      if (result !== null) results.get(client).push(result)
    }
  }
} finally {
  nginx.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function run({ command, tool, specifier = null, api = 'fetch' }) {
  if (tool !== undefined) {
    const scenario = { wire: 'h1', path: '/small', method: 'GET', connections: CONNECTIONS, pipelining: 1 }
    return (await runTool(tool, scenario, nginx.ports.h1, Number(seconds))).metrics
  }
  const job = {
    origin: `http://127.0.0.1:${nginx.ports.h1}`,
    traffic,
    specifier,
    api,
    lanes: CONNECTIONS,
    length: BODIES[traffic === 'real' ? '/api/' : '/small'],
    warmup: Number(warmup),
    seconds: Number(seconds),
  }
  const [program, ...args] = onClientCore([...command, JSON.stringify(job)])
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 })
  try {
    return JSON.parse(stdout)
  } catch {
    console.error(`${command.join(' ')}: ${stderr}`)
    return null
  }
}

console.log('| client | requests/s | CPU µs/request |\n|---|---|---|')
for (const [{ name }, runs] of results) {
  if (runs.length === 0) console.log(`| ${name} | not measured | |`)
  else console.log(`| ${name} | ${cell(runs, 'rps', 0)} | ${cell(runs, 'cpu', 1)} |`)
}

function cell(runs, key, digits) {
  const { median, min, max } = summary(runs.map((run) => run[key]))
  return `${format(median, digits)} (${format(min, digits)}–${format(max, digits)})`
}
