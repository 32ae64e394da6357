// Who takes part, on which Node, and with which code.

export const SUBJECT = 'ventuno'
export const SYSTEM_NODE = 'ventuno (system node)'
export const BASELINE = 'baseline'

/**
 * - `open`: module and export that make a session, `send(path)` → promise of the text or `start(path, done)`
 * - `build`: which build of ventuno, for the candidates that are ventuno
 * - `tool`: a program instead of a module
 * - `specifier`: what a fresh process imports to measure the import
 */
export const CANDIDATES = {
  [SUBJECT]: { open: ['dispatcher.mjs', 'open'], build: 'library' },
  [SYSTEM_NODE]: { open: ['dispatcher.mjs', 'open'], build: 'library', systemNode: true },
  [BASELINE]: { open: ['dispatcher.mjs', 'open'], build: 'baseline' },
  undici: { open: ['dispatcher.mjs', 'open'], specifier: 'undici' },
  'node:http': { open: ['node-http.mjs', 'open'] },
  'node:http2': { open: ['node-http2.mjs', 'open'] },
  got: { open: ['got.mjs', 'open'], specifier: 'got' },
  axios: { open: ['axios.mjs', 'open'], specifier: 'axios' },
  ws: { open: ['websocket.mjs', 'openWs'], specifier: 'ws' },
  'floor (h1)': { open: ['floor-http1.mjs', 'open'] },
  'floor (h2)': { open: ['floor-http2.mjs', 'open'] },
  wrk: { tool: 'wrk' },
  h2load: { tool: 'h2load' },
}

/** Everything that is ventuno. */
export const OURS = [SUBJECT, SYSTEM_NODE, BASELINE]

/** What the peers of a library are: floors and tools are limits, ventuno itself is not a peer. */
export function isPeer(name) {
  return !OURS.includes(name) && !name.startsWith('floor') && CANDIDATES[name].tool === undefined
}
