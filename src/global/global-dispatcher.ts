/**
 * The dispatcher for requests that name none. `setGlobalDispatcher` stores it under the symbols that undici
 * and the runtime's own `fetch` read. Until it is called, nothing global is touched: the default is an agent
 * of this library, made on first use, which uses the proxies of the environment if the runtime was asked to.
 */
import { shared } from '../base/object/shared.ts'
import { Agent } from '../dispatcher/agent.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { Dispatcher1Wrapper, type DispatcherLike } from '../dispatcher/dispatcher1-wrapper.ts'
import { InvalidArgumentError } from '../errors.ts'
import { EnvHttpProxyAgent } from '../proxy/env-http-proxy-agent.ts'

/** Read by `fetch` of Node 20, 22 and 24, which has handlers of the older generation. */
const FOR_OLDER_HANDLERS = Symbol.for('undici.globalDispatcher.1')
/** Read by undici 8 and by `fetch` of Node 26. */
const SHARED = Symbol.for('undici.globalDispatcher.2')
/** Distinguishes a choice made through any copy of this library from the defaults of other libraries. */
const CHOSEN = Symbol.for('ventuno.globalDispatcher.1')

type Globals = Record<symbol, Dispatcher | undefined>

/** Returned by `getGlobalDispatcher` until one is chosen. */
const unchosen = shared<Dispatcher>('defaultDispatcher', () =>
  usesEnvironmentProxy() ? new EnvHttpProxyAgent() : new Agent(),
)
/** The choice, if the global object is frozen. */
let local: Dispatcher | null = null

/**
 * Makes this the dispatcher of all requests that name none, those of the runtime's own `fetch` included.
 *
 * @example
 * setGlobalDispatcher(new Agent({ connections: 10 }))
 */
export function setGlobalDispatcher<TDispatcher extends DispatcherLike>(agent: TDispatcher): void {
  if (typeof (agent as DispatcherLike | null | undefined)?.dispatch !== 'function') {
    throw new InvalidArgumentError('Argument agent must implement Agent')
  }
  // One of undici has all that callers of `getGlobalDispatcher` use, but for what its types leave out.
  const dispatcher = agent as DispatcherLike as Dispatcher
  const stored = [
    store(SHARED, dispatcher),
    store(FOR_OLDER_HANDLERS, new Dispatcher1Wrapper(dispatcher)),
    store(CHOSEN, dispatcher),
  ]
  local = stored.includes(false) ? dispatcher : null
}

/**
 * For a dispatcher that is the global one only for a while: the function returned restores the former state.
 */
export function replaceGlobalDispatcher(dispatcher: Dispatcher): () => void {
  // The runtime stores its own dispatcher when its classes are loaded, and must not find ours in the place by
  // then.
  void globalThis.Headers
  const globals = globalThis as unknown as Globals
  const former = [SHARED, FOR_OLDER_HANDLERS, CHOSEN].map((name) => [name, globals[name]] as const)
  const formerLocal = local
  setGlobalDispatcher(dispatcher)
  return () => {
    for (const [name, value] of former) store(name, value)
    local = formerLocal
  }
}

/** The dispatcher of requests that name none. */
export function getGlobalDispatcher(): Dispatcher {
  return local ?? chosenDispatcher() ?? unchosen()
}

/** The dispatcher chosen for the whole process, by whichever library; null if none was. */
function chosenDispatcher(): Dispatcher | null {
  const globals = globalThis as unknown as Globals
  const shared = globals[SHARED]
  if (shared === undefined || shared === null) return null
  return shared === globals[CHOSEN] || !isOthersDefault(shared) ? shared : null
}

/**
 * Node 24 and 26, and undici, store a plain agent under the shared symbol as soon as they are loaded. That is
 * a default, not a choice, and the order of loading must not decide which library sends a request.
 */
function isOthersDefault(dispatcher: Dispatcher): boolean {
  return dispatcher.constructor?.name === 'Agent' && !(dispatcher instanceof Agent)
}

/** The switch of the runtime, whose versions before 24 do not know it. */
function usesEnvironmentProxy(): boolean {
  if (process.env['NODE_USE_ENV_PROXY'] === '1') return true
  const options = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)]
  return options.includes('--use-env-proxy')
}

function store(name: symbol, value: Dispatcher | undefined): boolean {
  return Reflect.defineProperty(globalThis, name, {
    value,
    writable: true,
    enumerable: false,
    configurable: false,
  })
}
