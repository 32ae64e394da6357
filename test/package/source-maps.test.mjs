// Under `node --enable-source-maps`, a stack trace through the package leads to the lines of its sources.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { runScript, usePackage } from './packed.mjs'

/** Each makes its error at a line that says so, in files from all over the bundle. */
const THROWS = `
  () => new Client('http://a.test', { bodyTimeout: -1 }),
  () => new Dispatcher().close(),
  () => new Dispatcher().compose(5),
  () => new Headers().append('not a name', ''),
  () => new WebSocket('ws://a.test', ['a', 'a']),
  () => getCookies(5),
`
const NAMES = '{ Client, Dispatcher, getCookies, Headers, WebSocket }'

const REPORT = `
const stacks = [${THROWS}].map((run) => {
  try {
    run()
  } catch (error) {
    return error.stack
  }
})
process.stdout.write(JSON.stringify(stacks))
`

describe('the source maps', () => {
  const { app, packed, installed } = usePackage({ after })

  for (const [kind, file, head] of [
    ['imported', 'stacks.mjs', `import ${NAMES} from 'ventuno'`],
    ['required', 'stacks.cjs', `const ${NAMES} = require('ventuno')`],
  ]) {
    test(`${kind}: the top of a stack is the line of the error`, () => {
      const env = { ...process.env, NODE_OPTIONS: '--enable-source-maps' }
      const stacks = JSON.parse(runScript(app, file, head + REPORT, { env }))
      assert.equal(stacks.length, 6)
      const sources = stacks.map((stack) => {
        const [, path, line] =
          /^ +at .*?\(?(?:file:\/\/)?([^\s(]+\/ventuno\/src\/[^:]+):(\d+):\d+/m.exec(stack) ?? []
        assert.ok(path, stack)
        assert.match(
          readFileSync(path, 'utf8').split('\n')[line - 1],
          /throw|Exception|new \w*Error\(/,
          stack,
        )
        return path
      })
      assert.ok(new Set(sources).size > 3, sources.join('\n'))
    })
  }

  test('name files that are in the package', () => {
    const files = packed.files.map(({ path }) => path)
    const maps = files.filter((path) => path.endsWith('.map'))
    assert.equal(maps.length, 5)
    for (const path of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(installed, path), 'utf8'))
      assert.equal(sourcesContent, undefined)
      for (const source of sources) {
        assert.ok(existsSync(join(installed, dirname(path), source)), `${path}: ${source}`)
      }
    }
  })
})
