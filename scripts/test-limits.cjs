// How long one test and one file may take: far more than any needs, so that on a starved machine, too, what hangs is a
// red line with its name. Loaded into the runner and into the test processes. The runner's own limit is not enough: from
// Node 22 on it does not end a file, and before it ends the file without naming the test.
const { ChildProcess } = require('node:child_process')

/** Milliseconds; the variable is for the test of this file. */
const [testLimit = 180_000, fileLimit = 600_000] = (process.env.VENTUNO_TEST_LIMITS ?? '')
  .split(',')
  .filter(Boolean)
  .map(Number)

/** In the runner: ends the processes of files that take longer. One that loops can only be ended from outside. */
function limitFiles() {
  const { spawn } = ChildProcess.prototype
  ChildProcess.prototype.spawn = function (options) {
    const result = spawn.call(this, options)
    const timer = setTimeout(() => {
      console.error(`\n✖ ${options.args.at(-1)} took more than ${fileLimit / 1000} s and was ended`)
      this.kill('SIGKILL')
      // A process that the file has started may have them, too, and the runner waits for their end.
      for (const stream of [this.stdout, this.stderr]) stream?.destroy()
    }, fileLimit)
    this.once('exit', () => clearTimeout(timer))
    return result
  }
}

if (process.env.NODE_TEST_CONTEXT === undefined && process.execArgv.includes('--test')) limitFiles()

module.exports = { testLimit, fileLimit }
