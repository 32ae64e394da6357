/**
 * The dispatcher for requests that name none (contract: fetch.md 2). It is kept where undici and the runtime's
 * own `fetch` look for theirs, but only once somebody has chosen one: until then nothing global is touched,
 * and what is used here is made when it is first asked for.
 */
import { shared } from '../base/shared.ts'
import { InvalidArgumentError } from '../errors.ts'
import { Agent } from './agent.ts'
import type { Dispatcher } from './dispatcher.ts'
import { Dispatcher1Wrapper } from './dispatcher1-wrapper.ts'

/** Read by `fetch` of Node 20, 22 and 24, which bring handlers of the older generation. */
const FOR_OLDER_HANDLERS = Symbol.for('undici.globalDispatcher.1')
/** Read by undici 8 and by `fetch` of Node 26. */
const SHARED = Symbol.for('undici.globalDispatcher.2')
/** Tells a choice made through any copy of this library from what others put in the shared place. */
const CHOSEN = Symbol.for('ventuno.globalDispatcher.1')

type Globals = Record<symbol, Dispatcher | undefined>

/** What `getGlobalDispatcher` gives while nobody has chosen. */
const unchosen = shared<Dispatcher>('defaultDispatcher', () => new Agent())
/** What was chosen where the global object is frozen. */
let local: Dispatcher | null = null

/**
 * Makes this the dispatcher of all requests that name none, those of the runtime's own `fetch` included.
 *
 * @example
 * setGlobalDispatcher(new Agent({ connections: 10 }))
 */
export function setGlobalDispatcher(dispatcher: Dispatcher): void {
  if (typeof (dispatcher as Dispatcher | null | undefined)?.dispatch !== 'function') {
    throw new InvalidArgumentError('Argument agent must implement Agent')
  }
  const stored = [
    store(SHARED, dispatcher),
    store(FOR_OLDER_HANDLERS, new Dispatcher1Wrapper(dispatcher)),
    store(CHOSEN, dispatcher),
  ]
  local = stored.includes(false) ? dispatcher : null
}

/** The dispatcher of requests that name none. */
export function getGlobalDispatcher(): Dispatcher {
  return local ?? chosenDispatcher() ?? unchosen()
}

/** What somebody has chosen for the whole process; null when nobody has. */
export function chosenDispatcher(): Dispatcher | null {
  const globals = globalThis as unknown as Globals
  const shared = globals[SHARED]
  if (shared === undefined || shared === null) return null
  return shared === globals[CHOSEN] || !isOthersDefault(shared) ? shared : null
}

/**
 * Node 24 and 26, and undici, put a plain agent of their own in the shared place as soon as they are loaded.
 * That is nobody's choice, and which of us was loaded first must not decide who sends a request.
 */
function isOthersDefault(dispatcher: Dispatcher): boolean {
  return dispatcher.constructor?.name === 'Agent' && !(dispatcher instanceof Agent)
}

function store(name: symbol, value: Dispatcher): boolean {
  return Reflect.defineProperty(globalThis, name, {
    value,
    writable: true,
    enumerable: false,
    configurable: false,
  })
}
