// The scenarios. Each names a measurement (bench/measurements), its parameters and its candidates.
import { BASELINE, OURS, SUBJECT, SYSTEM_NODE, WITH_REQUEST, WITHOUT } from './candidates/index.mjs'
import { FULL_PATH, PACED_PATH } from './chunks.mjs'
import { PAGES_PATH } from './crawl.mjs'
import { EVENT_COUNT } from './events.mjs'
import { ORDERS_PATH, REAL_PATH } from './real-traffic.mjs'

const H1_ALL = [...OURS, 'undici', 'node:http', 'got', 'axios', 'floor (h1)', 'wrk']
const H1_SOME = [...OURS, 'undici', 'node:http', 'floor (h1)', 'wrk']
const H1_PIPELINED = [...OURS, 'undici', 'floor (h1)', 'wrk']
const H2C = [...OURS, 'undici', 'node:http2', 'floor (h2)', 'h2load']
const H2_ALL = [...OURS, 'undici', 'node:http2', 'got', 'floor (h2)', 'h2load']
const LIBRARIES = [...OURS, 'undici']
/** What undici does not have is compared with the same requests without it. */
const COST = [SUBJECT, BASELINE, WITHOUT]

const load = (name, title, wire, parameters, candidates) => ({
  name,
  title,
  kind: 'throughput',
  wire,
  path: '/small',
  method: 'GET',
  api: 'request',
  connections: 1,
  pipelining: 1,
  ...parameters,
  lanes: parameters.lanes ?? (parameters.connections ?? 1) * (parameters.pipelining ?? 1),
  candidates,
})

const POST = { path: '/post', method: 'POST' }

/** Another request each time: see real-traffic.mjs. */
const REAL = { traffic: 'service', api: 'request-real', path: REAL_PATH }
const REAL_POST = { ...REAL, path: ORDERS_PATH, method: 'POST' }
const REAL_FETCH = { ...REAL, api: 'fetch-real' }
const CRAWLER = {
  traffic: 'crawler',
  feature: 'crawler',
  api: 'request-page',
  path: PAGES_PATH,
  connections: 50,
}
const REAL_H1 = [...LIBRARIES, 'floor (h1)']
const REAL_H2 = [...LIBRARIES, 'floor (h2)']

const FETCH_50 = { api: 'fetch', connections: 50 }

/** Each request asks for its connection to be closed afterwards. */
const FRESH = { reset: true, connections: 20 }

/** Without `blocking: false`, undici holds a request back until the previous response head has arrived. */
const PIPELINED = { pipelining: 10, blocking: false }

/** Requests started by a clock, in a process that sleeps in between. */
function pacedAt(rate, name, title, wire, parameters, floors) {
  const words = `real traffic at ${rate.toLocaleString('en')} requests per second, ${title}`
  return {
    ...load(`paced-${rate}-${name}`, words, wire, { ...REAL, ...parameters }, [
      ...LIBRARIES,
      ...floors,
      'floor (clock)',
    ]),
    kind: 'paced',
    rate,
  }
}

/**
 * - `goals`: candidate → [at least, aim] for the ratio of the first metric
 * - `limits`: metric → the maximum for ventuno
 * - `judged`: the metric of the goals, if not the first one
 * - `quick`: part of --quick
 * - `byName`: runs only if selected by name
 */
export const SCENARIOS = [
  {
    ...load('h1-real-50', 'real traffic, Pool of 50', 'h1', { ...REAL, connections: 50 }, REAL_H1),
    goals: { undici: [1.6, 2], 'floor (h1)': [0.74, 1] },
    judged: 'cpu',
  },
  load('h1-tls-real-50', 'real traffic, Pool of 50, TLS', 'h1-tls', { ...REAL, connections: 50 }, REAL_H1),
  {
    ...load('h2c-real-100', 'real traffic, h2c, 100 concurrent', 'h2c', { ...REAL, lanes: 100 }, REAL_H2),
    goals: { undici: [6, 8], 'floor (h2)': [0.67, 1] },
    judged: 'cpu',
  },
  {
    ...load(
      'h2-real-100',
      'real traffic, HTTP/2 over TLS, 100 concurrent',
      'h2',
      { ...REAL, lanes: 100 },
      REAL_H2,
    ),
    goals: { undici: [5.5, 8], 'floor (h2)': [0.67, 1] },
    judged: 'cpu',
  },
  {
    ...load(
      'fetch-real-50',
      'real traffic with fetch(), Pool of 50',
      'h1',
      { ...REAL_FETCH, connections: 50 },
      [...LIBRARIES, "the runtime's fetch"],
    ),
    goals: { undici: [4, 5] },
    judged: 'cpu',
  },
  load(
    'json-api-50',
    'real traffic with JSON POSTs of 200 B to 4 KB, Pool of 50',
    'h1',
    { ...REAL_POST, connections: 50 },
    REAL_H1,
  ),
  load(
    'crawler-50',
    '20 KB pages of 20 origins through an Agent, gzip, 50 at a time',
    'h1',
    CRAWLER,
    REAL_H1,
  ),
  load(
    'crawler-fetch-50',
    '20 KB pages of 20 origins with fetch(), gzip, 50 at a time',
    'h1',
    { ...CRAWLER, api: 'fetch-page' },
    [...LIBRARIES, "the runtime's fetch"],
  ),
  ...[
    ['gateway-50', 'a gateway with a Pool of 50: real traffic in, out and back', REAL],
    ['gateway-post-50', 'a gateway with a Pool of 50: JSON POSTs of 200 B to 4 KB', REAL_POST],
  ].map(([name, title, traffic]) => ({
    ...load(name, title, 'h1', { ...traffic, connections: 50 }, [
      ...LIBRARIES,
      'node:http',
      'floor (server alone)',
    ]),
    kind: 'gateway',
  })),
  chunked(
    'chunks-20',
    '20 streams, a few small chunks at a time, for await of request()',
    'request',
    PACED_PATH,
  ),
  chunked(
    'chunks-fetch-20',
    '20 streams, a few small chunks at a time, for await of fetch()',
    'fetch',
    PACED_PATH,
  ),
  chunked(
    'chunks-full-20',
    '20 streams, all their small chunks at once, for await of request()',
    'request',
    FULL_PATH,
  ),
  chunked(
    'chunks-full-fetch-20',
    '20 streams, all their small chunks at once, for await of fetch()',
    'fetch',
    FULL_PATH,
  ),
  load(
    'heads-real-50',
    'real traffic with the heads of Apache, Caddy, h2o, HAProxy and nginx, Pool of 50',
    'h1',
    { ...REAL, port: 'heads', connections: 50 },
    LIBRARIES,
  ),
  {
    ...load('h1-get', 'the same GET again, one connection, one after the other', 'h1', {}, H1_ALL),
    quick: true,
    goals: { undici: [1.5, 2] },
  },
  load('h1-tls-get', 'the same GET again, one connection, one after the other, TLS', 'h1-tls', {}, H1_ALL),
  {
    ...load(
      'h1-pipeline-10',
      'the same GET again, one connection, pipelining 10',
      'h1',
      PIPELINED,
      H1_PIPELINED,
    ),
    quick: true,
    goals: { undici: [4, 6] },
  },
  load(
    'h1-tls-pipeline-10',
    'the same GET again, one connection, pipelining 10, TLS',
    'h1-tls',
    PIPELINED,
    H1_PIPELINED.slice(0, -1),
  ),
  {
    ...load('h1-pool-50', 'the same GET again, Pool of 50', 'h1', { connections: 50 }, H1_ALL),
    quick: true,
    goals: { undici: [2, 3], wrk: [0.6, 1] },
  },
  load('h1-tls-pool-50', 'the same GET again, Pool of 50, TLS', 'h1-tls', { connections: 50 }, H1_SOME),
  load('h1-fresh-20', 'the same GET again, a new connection each, 20 at a time', 'h1', FRESH, [
    ...LIBRARIES,
    'node:http',
  ]),
  load('h1-tls-fresh-20', 'the same GET again, a new connection each, 20 at a time, TLS', 'h1-tls', FRESH, [
    ...LIBRARIES,
    'node:http',
  ]),
  {
    ...load('h1-post-1k', 'the same 1 KB JSON POST again, one connection', 'h1', POST, H1_ALL),
    goals: { undici: [1.5, 2] },
  },
  {
    ...load(
      'h1-post-1k-pool-50',
      'the same 1 KB JSON POST again, Pool of 50',
      'h1',
      { ...POST, connections: 50 },
      H1_SOME,
    ),
    goals: { undici: [1.5, 2] },
  },
  {
    ...load('h1-64k', '64 KB body, one connection', 'h1', { path: '/64k' }, H1_ALL),
    goals: { undici: [1.3, 2] },
  },
  load('h1-1m', '1 MB body, one connection', 'h1', { path: '/1m' }, H1_SOME),
  load('h1-tls-64k', '64 KB body, one connection, TLS', 'h1-tls', { path: '/64k' }, H1_SOME),
  load('h1-tls-1m', '1 MB body, one connection, TLS', 'h1-tls', { path: '/1m' }, H1_SOME),
  // No goal: with sequential requests even wrk is less than twice as fast as undici's dispatch().
  load('h1-dispatch', 'dispatch(), one connection', 'h1', { api: 'dispatch' }, [
    ...LIBRARIES,
    'floor (h1)',
    'wrk',
  ]),
  load(
    'h1-dispatch-pipeline-10',
    'dispatch(), one connection, pipelining 10',
    'h1',
    { ...PIPELINED, api: 'dispatch' },
    [...LIBRARIES, 'floor (h1)'],
  ),
  {
    ...load('h1-dispatch-pool-50', 'dispatch(), Pool of 50', 'h1', { api: 'dispatch', connections: 50 }, [
      ...LIBRARIES,
      'floor (h1)',
      'wrk',
    ]),
    goals: { undici: [2, 3] },
  },
  {
    ...load(
      'interceptors-idle',
      'the same GET through retry, decompress and redirect, Pool of 50',
      'h1',
      { connections: 50, feature: 'idle' },
      [...LIBRARIES, WITHOUT],
    ),
    goals: { undici: [2, 3], [WITHOUT]: [0.87, 1] },
    judged: 'cpu',
  },
  {
    ...load(
      'guard-open',
      'small GET on open connections under a guard, Pool of 50',
      'h1',
      { connections: 50, feature: 'guard' },
      COST,
    ),
    goals: { [WITHOUT]: [0.97, 1] },
    judged: 'cpu',
  },
  ...[
    ['metrics-own', 'metrics without a meter behind them', 'metrics', 0.95],
    // The SDK makes a text of all attributes for each value.
    ['metrics-sdk', "metrics with OpenTelemetry's SDK", 'metricsSdk', 0.78],
    ['metrics-details', "detailed metrics with OpenTelemetry's SDK", 'metricsDetails', 0.55],
  ].map(([name, title, feature, least]) => ({
    ...load(name, `small GET, Pool of 50, ${title}`, 'h1', { connections: 50, feature }, COST),
    goals: { [WITHOUT]: [least, 1] },
    judged: 'cpu',
    byName: true,
  })),
  {
    ...load(
      'cookies-empty',
      'small GET through an empty cookie jar, Pool of 50',
      'h1',
      { connections: 50, feature: 'jar' },
      COST,
    ),
    goals: { [WITHOUT]: [0.9, 1] },
    judged: 'cpu',
  },
  {
    ...load(
      'cookies-sent',
      'small GET with 2 cookies of a jar of 52, Pool of 50',
      'h1',
      { connections: 50, feature: 'filledJar' },
      COST,
    ),
    goals: { [WITHOUT]: [0.65, 0.8] },
    judged: 'cpu',
  },
  {
    ...load(
      'cache-hit',
      'the same GET from the cache in memory, 50 at a time',
      'h1',
      { connections: 50, feature: 'cache', path: '/cached', isInProcess: true },
      LIBRARIES,
    ),
    goals: { undici: [3, 4] },
  },
  {
    ...load(
      'proxy-connect-50',
      'the same GET through 50 tunnels',
      'h1',
      { connections: 50, feature: 'tunnel' },
      LIBRARIES,
    ),
    goals: { undici: [1.5, 2] },
  },
  {
    ...load(
      'proxy-forward-50',
      'the same GET forwarded by a proxy, 50 at a time',
      'h1',
      { connections: 50, feature: 'forward' },
      LIBRARIES,
    ),
    goals: { undici: [1.5, 2] },
  },
  {
    ...load(
      'mock',
      'mocked GET, 50 at a time',
      'h1',
      { connections: 50, feature: 'mock', isInProcess: true },
      LIBRARIES,
    ),
    goals: { undici: [2, 3] },
  },
  {
    ...load('sse', '100 MB of events, EventSource', 'h1', { path: '/events' }, LIBRARIES),
    kind: 'sse',
    events: EVENT_COUNT,
    goals: { undici: [3, 4] },
    limits: { growth: 1.2 },
  },
  load('h1-stream', 'stream(), one connection', 'h1', { api: 'stream' }, LIBRARIES),
  {
    ...load('h1-fetch', 'fetch(), one connection', 'h1', { api: 'fetch' }, LIBRARIES),
    goals: { undici: [3, 4] },
  },
  {
    ...load('h1-fetch-pool-50', 'fetch(), Pool of 50', 'h1', { ...FETCH_50 }, [...LIBRARIES, WITH_REQUEST]),
    goals: { undici: [4, 5], [WITH_REQUEST]: [0.87, 1] },
  },
  {
    ...load(
      'h1-fetch-json-pool-50',
      'fetch() and json(), Pool of 50',
      'h1',
      { ...FETCH_50, api: 'fetch-json', path: '/json' },
      LIBRARIES,
    ),
    goals: { undici: [4, 5] },
  },
  {
    ...load(
      'h1-fetch-post-1k-pool-50',
      'the same 1 KB JSON POST again with fetch(), Pool of 50',
      'h1',
      { ...FETCH_50, ...POST },
      LIBRARIES,
    ),
    goals: { undici: [4, 5] },
  },
  {
    ...load(
      'h1-fetch-signal-pool-50',
      'fetch() with a signal that all share, Pool of 50',
      'h1',
      { ...FETCH_50, api: 'fetch-signal' },
      LIBRARIES,
    ),
    goals: { undici: [4, 5] },
  },
  {
    ...load(
      'h1-fetch-64k-pool-50',
      '64 KB body with fetch(), Pool of 50',
      'h1',
      { ...FETCH_50, path: '/64k' },
      LIBRARIES,
    ),
    goals: { undici: [4, 5] },
  },
  {
    ...load(
      'h1-fetch-1m',
      '1 MB body with fetch(), one connection',
      'h1',
      { api: 'fetch', path: '/1m' },
      LIBRARIES,
    ),
    goals: { undici: [3, 4] },
  },
  {
    ...load(
      'h1-fetch-stream-pool-50',
      'small body of fetch() as a stream, Pool of 50',
      'h1',
      { ...FETCH_50, api: 'fetch-stream' },
      LIBRARIES,
    ),
    goals: { undici: [3, 4] },
  },
  {
    ...load(
      'h1-fetch-stream-1m',
      '1 MB body of fetch() as a stream, one connection',
      'h1',
      { api: 'fetch-stream', path: '/1m' },
      LIBRARIES,
    ),
    goals: { undici: [3, 4] },
  },

  load('h2c-1', 'the same GET again, h2c, 1 at a time', 'h2c', { lanes: 1 }, H2C),
  load('h2c-10', 'the same GET again, h2c, 10 concurrent', 'h2c', { lanes: 10 }, H2C),
  {
    ...load('h2c-100', 'the same GET again, h2c, 100 concurrent', 'h2c', { lanes: 100 }, H2C),
    quick: true,
    goals: { undici: [5, 8], h2load: [0.6, 1] },
  },
  load('h2-1', 'the same GET again, HTTP/2 over TLS, 1 at a time', 'h2', { lanes: 1 }, H2_ALL),
  load('h2-10', 'the same GET again, HTTP/2 over TLS, 10 concurrent', 'h2', { lanes: 10 }, H2_ALL),
  {
    ...load('h2-100', 'the same GET again, HTTP/2 over TLS, 100 concurrent', 'h2', { lanes: 100 }, H2_ALL),
    quick: true,
    goals: { undici: [5, 8], h2load: [0.6, 1] },
  },
  {
    ...load(
      'h2c-post-1k',
      'the same 1 KB JSON POST again, h2c, 100 concurrent',
      'h2c',
      { ...POST, lanes: 100 },
      H2C,
    ),
    goals: { undici: [3, 6] },
  },
  load(
    'h2-post-1k',
    'the same 1 KB JSON POST again, HTTP/2 over TLS, 100 concurrent',
    'h2',
    { ...POST, lanes: 100 },
    H2_ALL,
  ),
  {
    ...load('h2c-64k', '64 KB body, h2c, 10 concurrent', 'h2c', { path: '/64k', lanes: 10 }, H2C),
    goals: { undici: [2, 4] },
  },
  load('h2c-1m', '1 MB body, h2c, 10 concurrent', 'h2c', { path: '/1m', lanes: 10 }, H2C),
  load('h2-64k', '64 KB body, HTTP/2 over TLS, 10 concurrent', 'h2', { path: '/64k', lanes: 10 }, H2_ALL),
  load('h2-1m', '1 MB body, HTTP/2 over TLS, 10 concurrent', 'h2', { path: '/1m', lanes: 10 }, H2C),
  {
    ...load('h2c-dispatch-100', 'dispatch(), h2c, 100 concurrent', 'h2c', { api: 'dispatch', lanes: 100 }, [
      ...LIBRARIES,
      'floor (h2)',
    ]),
    quick: true,
    goals: { undici: [6, 9] },
  },
  {
    ...load(
      'h2-dispatch-100',
      'dispatch(), HTTP/2 over TLS, 100 concurrent',
      'h2',
      { api: 'dispatch', lanes: 100 },
      [...LIBRARIES, 'floor (h2)'],
    ),
    goals: { undici: [6, 9] },
  },
  load('h2c-stream-100', 'stream(), h2c, 100 concurrent', 'h2c', { api: 'stream', lanes: 100 }, LIBRARIES),
  {
    ...load(
      'h2-fetch-100',
      'fetch(), HTTP/2 over TLS, 100 concurrent',
      'h2',
      { api: 'fetch', lanes: 100 },
      LIBRARIES,
    ),
    goals: { undici: [5, 6] },
  },
  {
    ...load('h2c-fetch-100', 'fetch(), h2c, 100 concurrent', 'h2c', { api: 'fetch', lanes: 100 }, LIBRARIES),
    goals: { undici: [5, 6] },
  },

  websocket(
    'ws-echo-1',
    'WebSocket echo, 64 bytes, one at a time',
    { lanes: 1 },
    { bytes: 64, binary: false },
  ),
  websocket(
    'ws-echo-100',
    'WebSocket echo, 64 bytes, 100 under way',
    { lanes: 100 },
    { bytes: 64, binary: false },
  ),
  websocket(
    'ws-echo-64k',
    'WebSocket echo, 64 KB binary, 10 under way',
    { lanes: 10 },
    { bytes: 65536, binary: true },
  ),

  {
    ...load(
      'latency-h1-pool-50',
      'latency at 2,000 requests per second, Pool of 50',
      'h1',
      { connections: 50 },
      H1_SOME.slice(0, -1),
    ),
    kind: 'latency',
    rate: 2000,
  },
  {
    ...load(
      'latency-h2c',
      'latency at 2,000 requests per second, one h2c connection',
      'h2c',
      { lanes: 100 },
      H2C.slice(0, -1),
    ),
    kind: 'latency',
    rate: 2000,
  },
  ...[2000, 10_000].map((rate) => ({
    ...load(
      `latency-real-${rate}`,
      `latency of real traffic at ${rate.toLocaleString('en')} requests per second, Pool of 50`,
      'h1',
      { ...REAL, connections: 50 },
      REAL_H1,
    ),
    kind: 'latency',
    rate,
  })),
  ...[1000, 5000].flatMap((rate) => [
    pacedAt(rate, 'h1', 'Pool of 50', 'h1', { connections: 50 }, ['floor (h1)']),
    pacedAt(rate, 'h1-tls', 'Pool of 50, TLS', 'h1-tls', { connections: 50 }, ['floor (h1)']),
    pacedAt(rate, 'h2c', 'h2c', 'h2c', { lanes: 100 }, ['floor (h2)']),
    pacedAt(rate, 'h2', 'HTTP/2 over TLS', 'h2', { lanes: 100 }, ['floor (h2)']),
    pacedAt(rate, 'fetch', 'fetch(), Pool of 50', 'h1', { ...REAL_FETCH, connections: 50 }, [
      "the runtime's fetch",
    ]),
    pacedAt(
      rate,
      'composed',
      'retry, decompress and redirect, Pool of 50',
      'h1',
      { connections: 50, feature: 'idle' },
      [],
    ),
  ]),
  {
    ...load(
      'spike-h1-50',
      'a burst over 50 connections, then 1,000 requests per second while the unused ones time out',
      'h1',
      { ...REAL, connections: 50 },
      LIBRARIES,
    ),
    kind: 'spike',
    rate: 1000,
  },
  {
    ...load(
      'cold-100',
      'import, first request and the next hundred in a fresh process, one after the other',
      'h1',
      { ...REAL },
      [...LIBRARIES, "the runtime's fetch"],
    ),
    kind: 'cold',
  },
  {
    ...load('cold-fetch-100', 'the same with fetch()', 'h1', { ...REAL_FETCH }, [
      ...LIBRARIES,
      "the runtime's fetch",
    ]),
    kind: 'cold',
  },
  ...['h1', 'h2c', 'h2'].map((wire) => ({
    ...load(`far-${wire}`, `8 MB download over 100 ms, ${wire}`, wire, { path: '/8m' }, far(wire)),
    kind: 'download',
    port: `far-${wire}`,
    downloads: 3,
  })),
  {
    name: 'import',
    title: 'import in a fresh process',
    kind: 'import',
    candidates: [...LIBRARIES, 'got', 'axios'],
    quick: true,
    goals: { undici: [3, 5] },
  },
  ...['h1', 'h2c'].map((wire) => ({
    ...load(`idle-${wire}`, `memory of an idle ${wire} connection`, wire, {}, [...LIBRARIES, nodeFor(wire)]),
    kind: 'idle-memory',
    count: 500,
    keepAlive: 600_000,
  })),
  ...['h1', 'h2c'].map((wire) => ({
    ...load(`flight-${wire}`, `memory of a request in flight, ${inFlight(wire)}`, wire, { path: '/wait' }, [
      ...LIBRARIES,
      nodeFor(wire),
    ]),
    kind: 'flight-memory',
    port: `silent-${wire}`,
    count: 1000,
  })),
  ...['h1', 'h2c'].flatMap((wire) =>
    ['request', 'dispatch'].map((api) => ({
      ...load(
        `queue-${wire}-${api}`,
        `1,000 and 100,000 queued, ${wire}, ${api}()`,
        wire,
        { api, lanes: 100 },
        LIBRARIES,
      ),
      kind: 'queue',
      pipelining: 10,
      goals: {},
      limits: { growth: 1.2 },
    })),
  ),
  {
    ...load('million-h2c', 'one million requests, one h2c connection', 'h2c', { lanes: 100 }, ['ventuno']),
    kind: 'million',
    limits: { growth: 1.1 },
    byName: true,
  },
  {
    ...load('million-fetch', 'one million fetches, Pool of 50', 'h1', { api: 'fetch', connections: 50 }, [
      'ventuno',
    ]),
    kind: 'million',
    limits: { growth: 1.1 },
    byName: true,
  },
  {
    ...load('million-h1', 'one million requests, Pool of 50', 'h1', { connections: 50 }, ['ventuno']),
    kind: 'million',
    limits: { growth: 1.1 },
    byName: true,
  },
]

function websocket(name, title, parameters, body) {
  return { ...load(name, title, 'ws', { ...parameters, body }, [...LIBRARIES, 'ws']), path: '' }
}

function chunked(name, title, api, path) {
  const parameters = { api: `${api}-chunks`, path, port: 'chunks', connections: 20 }
  return { ...load(name, title, 'h1', parameters, LIBRARIES), kind: 'chunks' }
}

function nodeFor(wire) {
  return wire === 'h1' ? 'node:http' : 'node:http2'
}

function far(wire) {
  return wire === 'h1'
    ? [...LIBRARIES, 'node:http', 'floor (h1)']
    : [...LIBRARIES, 'node:http2', 'floor (h2)']
}

function inFlight(wire) {
  return wire === 'h1' ? 'one connection each' : 'one h2c connection'
}

/** Candidates of --quick: those that a change is compared with, and the limits. */
const QUICK_CANDIDATES = ['ventuno', 'undici', 'wrk', 'h2load']

export function chooseScenarios({ only, candidates, quick, baseline }) {
  const chosen = SCENARIOS.filter(({ name, byName, quick: short }) => {
    if (only !== null) return only.some((wanted) => name === wanted || name.startsWith(`${wanted}-`))
    return !byName && (!quick || short === true)
  })
  const wanted = candidates ?? (quick ? QUICK_CANDIDATES : null)
  const takesPart = (name, scenario) => {
    if (name === BASELINE) return baseline !== undefined
    if (wanted !== null) return wanted.includes(name)
    // On the system's Node only scenarios with a goal, to keep the whole run near an hour.
    return name !== SYSTEM_NODE || scenario.goals !== undefined
  }
  return chosen.map((scenario) => ({
    ...scenario,
    candidates: scenario.candidates.filter((name) => takesPart(name, scenario)),
  }))
}
