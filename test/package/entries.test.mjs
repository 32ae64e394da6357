// The entries of the package: what each loads, and that all of them export the same.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { root, runScript, usePackage } from './packed.mjs'

const LOADED = `Object.keys(require.cache)
  .filter((path) => path.includes('ventuno'))
  .map((path) => path.split(/[\\\\/]/).pop())
  .filter((file) => file.endsWith('.cjs') && !file.startsWith('loads'))
  .sort()
  .join()`

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const parts = Object.keys(exports).filter((path) => /^\.\/[a-z-]+$/.test(path))

describe('the entries of the package', () => {
  const { app } = usePackage({ after })

  test('there is one for each part', () => {
    assert.deepEqual(parts, [
      './cache',
      './cookies',
      './event-source',
      './fetch',
      './http',
      './interceptors',
      './mock',
      './proxy',
      './websocket',
    ])
  })

  for (const [kind, load] of [
    ['imported', (name) => `await import('${name}')`],
    ['required', (name) => `require('${name}')`],
  ]) {
    test(`${kind}: the library loads a part when it is first used, not before`, () => {
      const output = runScript(
        app,
        `loads-${kind}.cjs`,
        `(async () => {
          const library = ${load('ventuno')}
          console.log(${LOADED})
          const { EventSource, MockAgent, WebSocket, interceptors, fetch, request, ...others } = library
          const copy = { ...library, ...others }
          console.log(typeof copy.MockAgent, typeof interceptors.retry, ${LOADED})
          interceptors.retry()
          console.log(${LOADED})
          new MockAgent()
          console.log(${LOADED}.includes('mock.cjs'), ${LOADED}.includes('websocket.cjs'))
          console.log(WebSocket.OPEN, ${LOADED}.includes('websocket.cjs'))
        })()`,
      )
      assert.deepEqual(output.split('\n'), [
        'index.cjs,late.cjs,main.cjs',
        'function function index.cjs,late.cjs,main.cjs',
        'index.cjs,interceptors.cjs,jar.cjs,late.cjs,main.cjs,shared.cjs',
        'true false',
        '1 true',
      ])
    })

    test(`${kind}: a plain request over HTTP/1.1 loads no part`, () => {
      const output = runScript(
        app,
        `loads-request-${kind}.cjs`,
        `(async () => {
          const { Client, fetch, request } = ${load('ventuno')}
          const server = require('node:http').createServer((_, response) => response.end('a')).listen(0, '127.0.0.1')
          await require('node:events').once(server, 'listening')
          const url = 'http://127.0.0.1:' + server.address().port
          const client = new Client(url)
          const texts = [
            await (await request(url)).body.text(),
            await (await fetch(url)).text(),
            await (await client.request({ path: '/', method: 'GET' })).body.text(),
          ]
          console.log(texts.join(''), ${LOADED})
          process.exit()
        })()`,
      )
      assert.equal(output, 'aaa index.cjs,late.cjs,main.cjs')
    })
  }

  test('each exports the same as the library, imported and required', () => {
    const output = runScript(
      app,
      'same.mjs',
      `import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      const [imported, required] = [await import('ventuno'), require('ventuno')]
      const seen = new Set()
      for (const part of ${JSON.stringify(parts.map((path) => path.slice(2)))}) {
        const [here, there] = [await import('ventuno/' + part), require('ventuno/' + part)]
        for (const name of Object.keys(here)) {
          seen.add(name)
          const values = [here[name], there[name], imported[name], required[name]]
          if (new Set(values).size !== 1) console.log('not the same:', part, name)
        }
        if (Object.keys(here).join() !== Object.keys(there).join()) console.log('not the same names:', part)
      }
      console.log(seen.size > 40, seen.has('MockAgent'), seen.has('fetch'), seen.has('request'))`,
    )
    assert.equal(output, 'true true true false')
  })

  test('a class that is loaded later is like any other', () => {
    const output = runScript(
      app,
      'classes.mjs',
      `import assert from 'node:assert/strict'
      import { mock } from 'node:test'
      import ventuno, { Dispatcher, MockAgent, SnapshotAgent, WebSocket, errors, mockErrors } from 'ventuno'
      class Own extends MockAgent {
        static of() { return new this() }
        kind() { return 'own' }
      }
      const own = Own.of()
      assert.ok(own instanceof Own && own instanceof MockAgent && own instanceof Dispatcher)
      assert.ok(!(new MockAgent() instanceof Own) && !(new Dispatcher() instanceof MockAgent))
      assert.equal(own.kind(), 'own')
      assert.equal(new MockAgent().constructor, MockAgent)
      assert.equal(MockAgent.name, 'MockAgent')
      assert.equal(Object.getPrototypeOf(SnapshotAgent), MockAgent)
      assert.deepEqual(Object.keys(WebSocket), ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'])
      assert.ok('OPEN' in WebSocket && new mockErrors.MockNotMatchedError('x') instanceof errors.UndiciError)
      assert.throws(() => MockAgent(), TypeError)
      const stub = mock.method(MockAgent.prototype, 'get', () => 'stubbed')
      assert.equal(new MockAgent().get('http://a.test'), 'stubbed')
      assert.equal(stub.mock.callCount(), 1)
      mock.method(ventuno, 'ProxyAgent', function () { this.fake = true })
      assert.ok(new ventuno.ProxyAgent().fake)
      console.log('ok')`,
    )
    assert.equal(output, 'ok')
  })

  test('the command says its version and its usage without loading the library', () => {
    for (const word of ['--version', '--help']) {
      const output = runScript(
        app,
        'loads-command.cjs',
        `process.argv = [process.argv[0], 'ventuno', '${word}']
        process.on('exit', () => process.stderr.write('[' + ${LOADED} + ']'))
        import('./node_modules/ventuno/dist/cli/main.js')
        process.stderr.write = (text) => process.stdout.write(text)`,
      )
      assert.match(output, word === '--help' ? /Usage: ventuno/ : /\d+\.\d+\.\d+/)
      assert.match(output, /\[\]$/)
    }
  })
})
