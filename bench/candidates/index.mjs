// The candidates, each with its Node and its code.

export const SUBJECT = 'ventuno'
export const SYSTEM_NODE = 'ventuno (system node)'
export const BASELINE = 'baseline'
/** For the cost of a feature: the same build without the feature of the scenario. */
export const WITHOUT = 'ventuno (without)'
/** For the cost of another interface: the same build, with `request()`. */
export const WITH_REQUEST = 'ventuno (request)'

const DISPATCHER = { open: ['dispatcher.mjs', 'open'], gateway: 'openDispatcher' }

/**
 * - `open`: module and export that open a session, `send(path)` → promise of the text or `start(path, done)`
 * - `gateway`: export of gateway.mjs that opens a gateway
 * - `build`: which build of ventuno, for the candidates that are ventuno
 * - `tool`: a program instead of a module
 * - `featureless`: leaves out the feature of a scenario
 * - `api`: in place of the interface of a scenario
 * - `specifier`: the import that a fresh process measures
 */
export const CANDIDATES = {
  [SUBJECT]: { ...DISPATCHER, build: 'library' },
  [SYSTEM_NODE]: { ...DISPATCHER, build: 'library', systemNode: true },
  [BASELINE]: { ...DISPATCHER, build: 'baseline' },
  [WITHOUT]: { ...DISPATCHER, build: 'library', featureless: true },
  [WITH_REQUEST]: { ...DISPATCHER, build: 'library', api: 'request' },
  undici: { ...DISPATCHER, specifier: 'undici' },
  "the runtime's fetch": { open: ['runtime-fetch.mjs', 'open'] },
  'node:http': { open: ['node-http.mjs', 'open'], gateway: 'openNodeHttp' },
  'node:http2': { open: ['node-http2.mjs', 'open'] },
  got: { open: ['got.mjs', 'open'], specifier: 'got' },
  axios: { open: ['axios.mjs', 'open'], specifier: 'axios' },
  ws: { open: ['websocket.mjs', 'openWs'], specifier: 'ws' },
  'floor (server alone)': { gateway: 'openAlone' },
  'floor (h1)': { open: ['floor-http1.mjs', 'open'] },
  'floor (h2)': { open: ['floor-http2.mjs', 'open'] },
  'floor (clock)': { open: ['clock.mjs', 'open'] },
  wrk: { tool: 'wrk' },
  h2load: { tool: 'h2load' },
}

/** The builds of ventuno, and the Nodes. */
export const OURS = [SUBJECT, SYSTEM_NODE, BASELINE]

/** The peers of ventuno. Floors and tools are limits, not peers. */
export function isPeer(name) {
  const { build, tool } = CANDIDATES[name]
  return build === undefined && !name.startsWith('floor') && tool === undefined
}
