// Loaded into the test processes, before `node:test`. The runner follows every promise and every resource with an async
// hook, to tell which test an uncaught exception came from, and that makes promises six times as slow. Without it such
// an exception still fails its file, and is printed here; run by itself with tsx, the file also names the test. A runner
// that asks for no hook is left as it is.
const asyncHooks = require('node:async_hooks')

const { createHook } = asyncHooks

asyncHooks.createHook = function createHookUnlessForRunner(callbacks) {
  if (!isForRunner()) return createHook(callbacks)
  printUncaught()
  return createHook({})
}

function isForRunner() {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 10
  const { stack } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return stack.includes('node:internal/test_runner/')
}

/** The runner has listeners, too, which report the message only. Tests that expect an exception remove both. */
function printUncaught() {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (reason) => console.error(`${event}:`, reason))
  }
}
