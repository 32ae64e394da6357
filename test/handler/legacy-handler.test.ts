import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { isLegacyHandler, toDispatchHandler } from '../../src/handler/legacy-handler.ts'
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../../src/request/dispatch-handler.ts'

const legacyMethods = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onUpgrade', 'onError'] as const

function makeController(extra: Partial<DispatchController> = {}): {
  controller: DispatchController
  log: unknown[]
} {
  const log: unknown[] = []
  const bare = {
    abort: (reason?: unknown): void => void log.push(['abort', reason]),
    pause: (): void => void log.push('pause'),
    resume: (): void => void log.push('resume'),
    ...extra,
  }
  return { controller: bare as DispatchController, log }
}

describe('telling the generations apart', () => {
  it('onRequestStart makes a new one, whatever else there is', () => {
    const modern = { onRequestStart() {}, onConnect() {}, onError() {} }
    assert.equal(isLegacyHandler(modern), false)
    assert.equal(toDispatchHandler(modern), modern)
  })

  it('any method of the older protocol makes an old one; onRequestUpgrade says nothing', () => {
    for (const name of legacyMethods) assert.equal(isLegacyHandler({ [name]() {} }), true, name)
    assert.equal(isLegacyHandler({ onConnect() {}, onError() {}, onRequestUpgrade() {} }), true)
  })

  it('what is neither is left to the checks of dispatch', () => {
    for (const value of [{}, { onRequestStart: 'x' }, { onRequestUpgrade() {} }, null, undefined, 5]) {
      assert.equal(isLegacyHandler(value), false)
      assert.equal(toDispatchHandler(value as DispatchHandler), value)
    }
  })
})

describe('an old handler behind the new protocol', () => {
  it('gets every call under its own name', () => {
    const calls: unknown[][] = []
    const note =
      (name: string) =>
      (...args: unknown[]): void =>
        void calls.push([name, ...args.filter((arg) => typeof arg !== 'function')])
    const names = [...legacyMethods, 'onBodySent', 'onRequestSent', 'onResponseStarted']
    const legacy = Object.fromEntries(names.map((name) => [name, note(name)])) as LegacyDispatchHandler
    const handler = toDispatchHandler(legacy)
    const rawHeaders = [Buffer.from('X-A'), Buffer.from('1')]
    const rawTrailers = [Buffer.from('Sum'), Buffer.from('2')]
    const { controller, log } = makeController({ rawHeaders, rawTrailers })
    const socket = new PassThrough()
    const chunk = Buffer.from('x')
    const error = new Error('lost')
    handler.onRequestStart?.(controller, 'ctx')
    handler.onBodySent?.('sent')
    handler.onRequestSent?.()
    handler.onResponseStarted?.()
    handler.onResponseStart?.(controller, 200, { 'x-a': '1' }, 'OK')
    handler.onResponseData?.(controller, chunk)
    handler.onResponseEnd?.(controller, { sum: '2' })
    handler.onRequestUpgrade?.(controller, 101, { 'x-a': '1' }, socket)
    handler.onResponseError?.(controller, error)
    assert.deepEqual(calls, [
      ['onConnect', 'ctx'],
      ['onBodySent', 'sent'],
      ['onRequestSent'],
      ['onResponseStarted'],
      ['onHeaders', 200, rawHeaders, 'OK'],
      ['onData', chunk],
      ['onComplete', rawTrailers],
      ['onUpgrade', 101, rawHeaders, socket],
      ['onError', error],
    ])
    assert.deepEqual(log, [])
  })

  it('gets raw fields made from the object where the dispatcher kept none', () => {
    const heads: Buffer[][] = []
    const handler = toDispatchHandler({
      onHeaders: (_status, raw) => heads.push(raw),
      onComplete: (raw) => heads.push(raw),
    })
    const { controller } = makeController({ rawHeaders: null })
    handler.onResponseStart?.(controller, 200, { a: 'é', b: ['1', '2'] }, '')
    handler.onResponseEnd?.(controller, {})
    handler.onResponseEnd?.(controller, null as never)
    assert.deepEqual(
      heads.map((raw) => raw.map((part) => part.toString('latin1'))),
      [['a', 'é', 'b', '1', 'b', '2'], [], []],
    )
    assert.equal(heads[0]?.[1]?.length, 1)
  })

  it('may lack any method but onError', () => {
    const handler = toDispatchHandler({ onConnect() {} })
    const { controller, log } = makeController()
    handler.onBodySent?.('x')
    handler.onRequestSent?.()
    handler.onResponseStarted?.()
    handler.onResponseStart?.(controller, 200, {}, '')
    handler.onResponseData?.(controller, Buffer.from('x'))
    handler.onResponseEnd?.(controller, {})
    handler.onRequestUpgrade?.(controller, 101, {}, new PassThrough())
    const error = new Error('lost')
    assert.throws(() => handler.onResponseError?.(controller, error), error)
    toDispatchHandler({ onError() {} }).onRequestStart?.(controller, null)
    assert.deepEqual(log, [])
  })

  it('pauses by returning false, but not for an informational head', () => {
    const resumes: (() => void)[] = []
    const handler = toDispatchHandler({
      onHeaders: (_status, _raw, resume) => {
        resumes.push(resume)
        return false
      },
      onData: (chunk) => chunk.length > 1,
    })
    const { controller, log } = makeController()
    handler.onRequestStart?.(controller, null)
    handler.onResponseStart?.(controller, 103, {}, '')
    assert.deepEqual(log, [])
    handler.onResponseStart?.(controller, 200, {}, '')
    assert.deepEqual(log, ['pause'])
    const resume = resumes[1]
    resume?.()
    resume?.()
    assert.deepEqual(log, ['pause', 'resume'])
    handler.onResponseData?.(controller, Buffer.from('xx'))
    resume?.()
    assert.deepEqual(log, ['pause', 'resume'])
    handler.onResponseData?.(controller, Buffer.from('x'))
    resume?.()
    assert.deepEqual(log, ['pause', 'resume', 'pause', 'resume'])
  })

  it('aborts the attempt that runs, and nothing from inside onError', () => {
    const aborts: ((reason?: unknown) => void)[] = []
    const handler = toDispatchHandler({
      onConnect: (abort) => aborts.push(abort),
      onError: (error) => aborts[0]?.(error),
    })
    const first = makeController()
    const second = makeController()
    handler.onRequestStart?.(first.controller, null)
    handler.onRequestStart?.(second.controller, null)
    aborts[0]?.('why')
    assert.deepEqual(first.log, [])
    assert.deepEqual(second.log, [['abort', 'why']])
    handler.onResponseError?.(second.controller, new Error('lost'))
    assert.deepEqual(second.log, [['abort', 'why']])
  })
})
