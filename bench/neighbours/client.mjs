// One client on whatever runtime this is: 50 requests at a time, each sent when the one before it was read. Prints one
// line of JSON. Runs on Node.js, Bun and Deno, and therefore measures with nothing that only one of them has.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { realTraffic } from '../real-traffic.mjs'
import { headersOf } from '../request.mjs'

const { origin, traffic, specifier, api, lanes, length, warmup, seconds } = JSON.parse(process.argv[2])
const HEADERS = headersOf('GET')
const send = await open()

let count = 0
let isOver = false

async function open() {
  const library = specifier === null ? globalThis : await import(specifier)
  const dispatcher = specifier === null ? undefined : new library.Pool(origin, { connections: lanes })
  const nextRequest = traffic === 'real' ? realTraffic({ path: '/api/' }) : same
  // "same" is text, "real" is JSON.
  const read = traffic === 'real' ? async (body) => (await body.json()).text : (body) => body.text()
  if (api === 'request') {
    return async () => {
      const { path, headers } = nextRequest()
      const { statusCode, body } = await dispatcher.request({ path, method: 'GET', headers })
      return check(statusCode, await read(body))
    }
  }
  return async () => {
    const { path, headers } = nextRequest()
    const response = await library.fetch(origin + path, { headers, dispatcher })
    return check(response.status, await read(response))
  }
}

function same() {
  return { path: '/small', headers: HEADERS }
}

function check(status, text) {
  if (status !== 200 || text.length !== length) throw new Error(`status ${status}, length ${text.length}`)
}

async function lane() {
  while (!isOver) {
    await send()
    count++
  }
}

/** Seconds of CPU time of this process with all its threads: fields 14 and 15, in hundredths (proc(5)). */
function cpuTime() {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) / 100
}

const sleep = (duration) => new Promise((resolve) => setTimeout(resolve, duration * 1000))

const running = Promise.all(Array.from({ length: lanes }, lane))
await Promise.race([sleep(warmup), running])
const from = { count, time: performance.now(), cpu: cpuTime() }
await Promise.race([sleep(seconds), running])
const elapsed = (performance.now() - from.time) / 1000
const cpu = cpuTime() - from.cpu
const answered = count - from.count
isOver = true
await running
console.log(JSON.stringify({ rps: answered / elapsed, cpu: (cpu * 1e6) / answered }))
process.exit(0)
