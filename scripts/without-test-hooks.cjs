// Loaded into the test processes, before anything else. The runner follows every promise and every resource with an
// async hook, to tell which test an uncaught exception came from, and that makes promises six times as slow. Here it is
// told of its own tests only, from which it knows what a `describe()` contains. Such an exception still fails its file,
// and is printed; run by itself with tsx, the file also names the test. A runner made differently keeps its hook.
const asyncHooks = require('node:async_hooks')
const { testLimit, fileLimit } = require('./test-limits.cjs')

const { AsyncResource, createHook } = asyncHooks

/** What the runner's hook does with a resource; null before there is a hook. */
let init = null
let hasTests = false

/** Tests and suites are resources. */
class TestResource extends AsyncResource {
  #limit = null

  constructor(type, options) {
    super(type, options)
    hasTests = true
    init?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  /** The classes of tests and suites assign their own, which is that of the parent, and of the root, null. */
  get timeout() {
    return this.#limit
  }

  set timeout(limit) {
    const isInherited = limit === null || limit === testLimit || limit === fileLimit
    this.#limit = isInherited ? (this.constructor.name === 'Test' ? testLimit : fileLimit) : limit
  }
}

function createRunnerHook(callbacks) {
  if (!hasTests || typeof callbacks.init !== 'function') return createHook(callbacks)
  init = callbacks.init
  printUncaught()
  return createHook({})
}

/** The runner has listeners, too, which report the message only. Tests that expect an exception remove both. */
function printUncaught() {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (reason) => console.error(`${event}:`, reason))
  }
}

// The modules of the runner take these when they are loaded.
Object.assign(asyncHooks, { AsyncResource: TestResource, createHook: createRunnerHook })
require('node:test')
Object.assign(asyncHooks, { AsyncResource, createHook })
