// A stack trace through the package names the functions and classes of its sources, without a source map.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { runScript, usePackage } from './packed.mjs'

/** Each makes its error in another part, at a place that says so. */
const THROWS = `
  () => new Client('http://a.test', null),
  () => new Dispatcher().close(),
  () => new Dispatcher().compose(5),
  () => new Headers().append('not a name', ''),
  () => new WebSocket('ws://a.test', ['a', 'a']),
  () => getCookies(5),
`
const NAMES = '{ Client, Dispatcher, getCookies, Headers, WebSocket }'
const FRAMES = [
  /new Client /,
  /Dispatcher.close /,
  /Dispatcher.compose /,
  /Headers\d?.append /,
  /new WebSocket /,
  /getCookies /,
]

/** Bad arguments, also of parts that are loaded when they are first used. */
const BAD = `
  () => new Client('http://a.test', { bodyTimeout: -1 }),
  () => new ProxyAgent({ uri: 'http://a.test', bodyTimeout: -1 }),
  () => new MockAgent({ bodyTimeout: -1 }),
  () => interceptors.retry({ maxRetries: 'x' }),
  () => request(''),
`
const BAD_NAMES = '{ Client, interceptors, MockAgent, ProxyAgent, request }'

const reportOf = (throws) => `
const stacks = [${throws}].map((run) => {
  try {
    run()
  } catch (error) {
    return error.stack
  }
})
process.stdout.write(JSON.stringify(stacks))
`

describe('stack traces', () => {
  const { app } = usePackage({ after })

  for (const [kind, file, head] of [
    ['imported', 'stacks.mjs', `import ${NAMES} from 'ventuno'`],
    ['required', 'stacks.cjs', `const ${NAMES} = require('ventuno')`],
  ]) {
    test(`${kind}: a bad argument begins at the caller's line`, () => {
      const script = head.replace(NAMES, BAD_NAMES) + reportOf(BAD)
      for (const stack of JSON.parse(runScript(app, `bad-${file}`, script))) {
        const [, first] = stack.split('\n')
        assert.match(first, /bad-stacks/, stack)
      }
    })

    test(`${kind}: the names are those of the sources, and the first line is that of the error`, () => {
      const stacks = JSON.parse(runScript(app, file, head + reportOf(THROWS)))
      stacks.forEach((stack, index) => {
        assert.match(stack, FRAMES[index])
        const [, path, line] = /^ +at .*?\(?(?:file:\/\/)?([^\s(]+\/ventuno\/dist\/[^:]+):(\d+):\d+/m.exec(
          stack,
        )
        // A line of the code is short, but an expression may begin on the one before.
        const lines = readFileSync(path, 'utf8')
          .split('\n')
          .slice(line - 2, Number(line) + 1)
        assert.match(lines.join(''), /throw|Exception|new \w*Error\(/, stack)
      })
    })
  }
})
