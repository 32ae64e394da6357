// wrk and h2load as candidates: clients in C on the same core, against the same server.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onClientCore } from './cores.mjs'
import { headersOf, JSON_BODY } from './request.mjs'

const execute = promisify(execFile)

/** The shell's own `time`, for the CPU time of the program: "cpu 1.234 0.567" at the end of stderr. */
const TIMED = 'TIMEFORMAT="cpu %U %S"; time "$@"'

export async function runTool(tool, scenario, port, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-bench-'))
  try {
    const command = TOOLS[tool].command(scenario, port, seconds, folder)
    const [program, ...args] = onClientCore(['bash', '-c', TIMED, 'bash', ...command])
    const { stdout, stderr } = await execute(program, args, { timeout: (seconds + 60) * 1000 })
    const { rps, count } = TOOLS[tool].read(stdout, scenario)
    const [, user, system] = stderr.match(/cpu ([\d.]+) ([\d.]+)\s*$/)
    return { metrics: { rps, cpu: ((Number(user) + Number(system)) * 1e6) / count } }
  } catch (error) {
    return { failed: String(error.message).split('\n')[0] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function headerArguments(scenario) {
  return Object.entries(headersOf(scenario.method)).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
}

function urlOf({ wire, path }, port) {
  return `${wire === 'h1' || wire === 'h2c' ? 'http' : 'https'}://127.0.0.1:${port}${path}`
}

const TOOLS = {
  wrk: {
    command(scenario, port, seconds, folder) {
      const script = join(folder, 'request.lua')
      writeFileSync(script, luaFor(scenario))
      return [
        'wrk',
        '-t1',
        `-c${scenario.connections}`,
        // Whole seconds only.
        `-d${Math.ceil(seconds)}s`,
        ...headerArguments(scenario),
        '-s',
        script,
        urlOf(scenario, port),
      ]
    },
    read(output) {
      if (/Non-2xx|Socket errors/.test(output)) throw new Error('wrk saw errors')
      return {
        rps: Number(output.match(/Requests\/sec:\s*([\d.]+)/)[1]),
        count: Number(output.match(/(\d+) requests in/)[1]),
      }
    },
  },

  h2load: {
    command(scenario, port, seconds, folder) {
      const body = join(folder, 'body')
      writeFileSync(body, JSON_BODY)
      return [
        'h2load',
        '-t1',
        '-c1',
        `-m${scenario.lanes}`,
        // Whole seconds only.
        `-D${Math.ceil(seconds)}`,
        ...headerArguments(scenario),
        ...(scenario.method === 'POST' ? ['-d', body] : []),
        urlOf(scenario, port),
      ]
    },
    read(output, { wire }) {
      const spoken = output.match(/Application protocol: (\S+)/)?.[1]
      if (spoken !== wire) throw new Error(`h2load spoke ${spoken}`)
      const [, count, bad] = output.match(/(\d+) succeeded, (\d+) failed/)
      if (Number(bad) > 0) throw new Error(`h2load saw ${bad} failures`)
      return { rps: Number(output.match(/finished in [^,]+, ([\d.]+) req\/s/)[1]), count: Number(count) }
    },
  },
}

/** wrk pipelines when its request function returns several requests at once. */
function luaFor({ method, pipelining }) {
  const post = method === 'POST' ? `wrk.method = "POST"\nwrk.body = '${JSON_BODY}'\n` : ''
  if (pipelining === 1) return post
  return `${post}init = function(args)
  local one = wrk.format()
  local all = {}
  for i = 1, ${pipelining} do all[i] = one end
  batch = table.concat(all)
end
request = function() return batch end
`
}
