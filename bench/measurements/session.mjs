// From a job to an open session of its candidate, which must speak the protocol of the scenario.
import { readFileSync } from 'node:fs'
import { crawlTraffic } from '../crawl.mjs'
import { realTraffic } from '../real-traffic.mjs'
import { headersOf, JSON_BODY } from '../request.mjs'

/** What makes the requests of the scenarios that send no request twice. */
const TRAFFIC = { service: realTraffic, crawler: crawlTraffic }

const PROTOCOL = { h1: 'HTTP/1.1', 'h1-tls': 'HTTP/1.1', h2c: 'HTTP/2.0', h2: 'HTTP/2.0' }

export async function openSession(job, overrides = {}) {
  const [file, name] = job.open
  const { [name]: open } = await import(new URL(`../candidates/${file}`, import.meta.url))
  const { scenario } = job
  const target = {
    ...scenario,
    library: job.library,
    ports: job.ports,
    origin: originOf(scenario.wire, job.port),
    ca: job.ca === null ? undefined : readFileSync(job.ca, 'utf8'),
    headers: headersOf(scenario.method),
    body: scenario.method === 'POST' ? JSON_BODY : scenario.body,
    nextRequest: TRAFFIC[scenario.traffic]?.({ ...scenario, ports: job.ports }) ?? null,
    ...overrides,
  }
  return open(target)
}

function originOf(wire, port) {
  if (wire === 'ws') return `ws://127.0.0.1:${port}`
  return `${wire === 'h1' || wire === 'h2c' ? 'http' : 'https'}://127.0.0.1:${port}`
}

/** One request, as a promise, whichever interface the candidate has. */
export function once(session, path) {
  if (session.send !== undefined) return session.send(path)
  return new Promise((resolve, reject) => {
    session.start(path, (error, text) => (error ? reject(error) : resolve(text)))
  })
}

/** The server reports the protocol of the request. */
export async function checkProtocol(session, wire) {
  const wanted = PROTOCOL[wire]
  if (wanted === undefined) return
  const spoken = await once(session, '/protocol')
  if (spoken !== wanted) throw new Error(`spoke ${spoken} where ${wanted} is measured`)
}

export function checkBody(text, bytes) {
  const length = text.length ?? text.byteLength
  if (length !== bytes) throw new Error(`a body of ${length} where ${bytes} were expected`)
}
