/** The global dispatcher. Each case runs in a separate process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { Dispatcher1Wrapper } from '../../src/dispatcher/dispatcher1-wrapper.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { copyUrl, sourceLoader, sourceUrl } from '../support/sources.ts'

const run = promisify(execFile)

const GLOBAL = sourceUrl('src/global/global-dispatcher.ts')
const AGENT = sourceUrl('src/dispatcher/agent.ts')
const FETCH = sourceUrl('src/index.ts')
const API = sourceUrl('src/global/global-api.ts')

const PRELUDE = `
  const ONE = Symbol.for('undici.globalDispatcher.1')
  const TWO = Symbol.for('undici.globalDispatcher.2')
  const symbols = () => [ONE, TWO].map((name) => Object.hasOwn(globalThis, name))
  const report = (value) => process.stdout.write(JSON.stringify(value))
`

/** Runs a module and returns its report. */
async function inProcess(script: string): Promise<unknown> {
  const { stdout } = await run(
    process.execPath,
    [...sourceLoader, '--input-type=module', '-e', PRELUDE + script],
    { cwd: new URL('../..', import.meta.url) },
  )
  return JSON.parse(stdout)
}

async function startServer(t: { after(fn: () => unknown): void }): Promise<string> {
  const server = http.createServer((request, response) => response.end(request.url))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the global dispatcher', () => {
  test('importing touches nothing global; asked again it is the same, and only our own place was made', async () => {
    const seen = await inProcess(`
      const before = new Set(Reflect.ownKeys(globalThis))
      const added = () => Reflect.ownKeys(globalThis).filter((key) => !before.has(key)).map(String)
      const { getGlobalDispatcher } = await import('${GLOBAL}')
      const { Agent } = await import('${AGENT}')
      await import('${FETCH}')
      const imported = added()
      const first = getGlobalDispatcher()
      const place = Object.getOwnPropertyDescriptor(globalThis, Symbol.for('ventuno.shared.1'))
      report([
        imported,
        first instanceof Agent,
        getGlobalDispatcher() === first,
        symbols(),
        added(),
        place.enumerable,
      ])
    `)
    assert.deepEqual(seen, [[], true, true, [false, false], ['Symbol(ventuno.shared.1)'], false])
  })

  test('set: stored under both names, neither enumerable nor configurable, and replaced', async () => {
    const seen = await inProcess(`
      const { getGlobalDispatcher, setGlobalDispatcher } = await import('${GLOBAL}')
      const first = { dispatch() {} }
      const second = { dispatch() {} }
      setGlobalDispatcher(first)
      const one = getGlobalDispatcher() === first
      setGlobalDispatcher(second)
      const { value, ...flags } = Object.getOwnPropertyDescriptor(globalThis, TWO)
      report([one, getGlobalDispatcher() === second, value === second, flags, typeof globalThis[ONE].dispatch])
    `)
    const flags = { writable: true, enumerable: false, configurable: false }
    assert.deepEqual(seen, [true, true, true, flags, 'function'])
  })

  test('set: what cannot dispatch is refused', async () => {
    const seen = await inProcess(`
      const { setGlobalDispatcher } = await import('${GLOBAL}')
      const errors = [null, undefined, {}, 'x'].map((value) => {
        try { setGlobalDispatcher(value) } catch (error) { return [error.code, error.message] }
      })
      report([errors, symbols()])
    `)
    const error = ['UND_ERR_INVALID_ARG', 'Argument agent must implement Agent']
    assert.deepEqual(seen, [
      [error, error, error, error],
      [false, false],
    ])
  })

  test('a frozen global object: kept in the module', async () => {
    const seen = await inProcess(`
      const { getGlobalDispatcher, setGlobalDispatcher } = await import('${GLOBAL}')
      const { Agent } = await import('${AGENT}')
      Object.freeze(globalThis)
      const mine = { dispatch() {} }
      const made = getGlobalDispatcher() instanceof Agent
      setGlobalDispatcher(mine)
      report([made, getGlobalDispatcher() === mine, symbols()])
    `)
    assert.deepEqual(seen, [true, true, [false, false]])
  })

  test('two copies of the library share it', async () => {
    const seen = await inProcess(`
      const one = await import('${GLOBAL}')
      const two = await import(${JSON.stringify(copyUrl('src/global/global-dispatcher.ts', 'copy'))})
      const { Agent } = await import(${JSON.stringify(copyUrl('src/dispatcher/agent.ts', 'copy'))})
      const agent = new Agent()
      two.setGlobalDispatcher(agent)
      report([one !== two, one.getGlobalDispatcher() === agent])
    `)
    assert.deepEqual(seen, [true, true])
  })

  test("the default of the runtime is nobody's choice; a choice made elsewhere is one", async () => {
    const seen = await inProcess(`
      const { getGlobalDispatcher } = await import('${GLOBAL}')
      const { Agent } = await import('${AGENT}')
      new Headers()
      const ours = getGlobalDispatcher() instanceof Agent
      class MockAgent { dispatch() {} }
      const mock = new MockAgent()
      Object.defineProperty(globalThis, TWO, { value: mock, writable: true, configurable: false })
      report([ours, getGlobalDispatcher() === mock])
    `)
    assert.deepEqual(seen, [true, true])
  })

  test("the runtime's own fetch goes through it", async (t) => {
    const url = await startServer(t)
    const seen = await inProcess(`
      const { setGlobalDispatcher } = await import('${GLOBAL}')
      const { Agent } = await import('${AGENT}')
      const agent = new Agent()
      setGlobalDispatcher(agent)
      const text = await (await globalThis.fetch('${url}/path')).text()
      report([text, Object.keys(agent.stats)])
      await agent.close()
    `)
    assert.deepEqual(seen, ['/path', [url]])
  })

  test('our fetch and request go through it, chosen or not', async (t) => {
    const url = await startServer(t)
    const seen = await inProcess(`
      const { getGlobalDispatcher, setGlobalDispatcher } = await import('${GLOBAL}')
      const { fetch, Request } = await import('${FETCH}')
      const { request } = await import('${API}')
      const { Agent } = await import('${AGENT}')
      const origins = []
      const visit = async () => {
        const texts = [
          await (await fetch('${url}/a')).text(),
          await (await fetch(new URL('${url}/b'))).text(),
          await (await fetch(new Request('${url}/c'))).text(),
          await (await fetch(new globalThis.Request('${url}/d'))).text(),
          await (await request('${url}/e')).body.text(),
        ]
        origins.push(texts.join(''), Object.keys(getGlobalDispatcher().stats).join())
      }
      await visit()
      const first = getGlobalDispatcher()
      setGlobalDispatcher(new Agent())
      await visit()
      report([...origins, first === getGlobalDispatcher()])
      await first.close()
      await getGlobalDispatcher().close()
    `)
    assert.deepEqual(seen, ['/a/b/c/d/e', url, '/a/b/c/d/e', url, false])
  })
})

describe('Dispatcher1Wrapper', () => {
  class Recorder extends Dispatcher {
    readonly calls: unknown[][] = []
    override dispatch(...args: unknown[]): boolean {
      this.calls.push(args)
      return true
    }
    override close(...args: unknown[]): Promise<void> {
      this.calls.push(['close', ...args])
      return Promise.resolve()
    }
    override destroy(...args: unknown[]): Promise<void> {
      this.calls.push(['destroy', ...args])
      return Promise.resolve()
    }
  }

  test('handlers of both generations, and close and destroy', async () => {
    const target = new Recorder()
    const wrapper = new Dispatcher1Wrapper(target)
    const current = new RecordingHandler()
    const opts = { path: '/', method: 'GET' }
    assert.equal(wrapper.dispatch(opts, current), true)
    const [given, newer] = target.calls[0] as [object, RecordingHandler]
    assert.equal(given, opts)
    newer.onResponseStart!({ rawHeaders: [] } as never, 204, {}, 'No Content')
    assert.equal(current.status, 204)
    const statuses: number[] = []
    wrapper.dispatch({ ...opts, upgrade: 'websocket' }, { onHeaders: (status) => statuses.push(status) })
    const [passed, handler] = target.calls[1] as [object, RecordingHandler]
    assert.deepEqual(passed, { ...opts, upgrade: 'websocket', allowH2: false })
    handler.onResponseStart!({ rawHeaders: [] } as never, 200, {}, 'OK')
    assert.deepEqual(statuses, [200])
    assert.equal(await wrapper.close(), undefined)
    const reason = new Error('x')
    assert.equal(await wrapper.destroy(reason), undefined)
    assert.deepEqual(target.calls.slice(2), [['close'], ['destroy', reason]])
  })

  test('checks', () => {
    for (const value of [null, undefined, {}]) {
      assert.throws(() => new Dispatcher1Wrapper(value as never), {
        code: 'UND_ERR_INVALID_ARG',
        message: 'Argument dispatcher must implement dispatch',
      })
    }
    assert.throws(() => Dispatcher1Wrapper.wrapHandler(null as never), {
      message: 'handler must be an object',
    })
    assert.throws(() => Dispatcher1Wrapper.wrapHandler('x' as never), {
      message: 'handler must be an object',
    })
    const current = new RecordingHandler()
    assert.equal(Dispatcher1Wrapper.wrapHandler(current), current)
  })
})
