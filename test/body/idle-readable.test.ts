import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { BodyReadable } from '../../src/body/readable.ts'
import { arrived, makeBody } from './made-body.ts'

const WORDS = ['one', 'two', 'three']

const USES: Record<string, (words: Readable) => Promise<string>> = {
  'data events': async (words) => {
    let text = ''
    words.on('data', (chunk: Buffer) => {
      text += chunk
    })
    await once(words, 'end')
    return text
  },
  'readable events': async (words) => {
    let text = ''
    words.on('readable', () => {
      for (let chunk = words.read(); chunk !== null; chunk = words.read()) text += chunk
    })
    await once(words, 'end')
    return text
  },
  iteration: async (words) => {
    let text = ''
    for await (const chunk of words) text += chunk
    return text
  },
  pipe: async (words) => (await words.pipe(new PassThrough()).toArray()).join(''),
  pipeline: async (words) => {
    const end = new PassThrough()
    await pipeline(words, end)
    return (await end.toArray()).join('')
  },
  'finished()': async (words) => {
    const end = finished(words)
    const chunks = await words.toArray()
    await end
    return chunks.join('')
  },
  'a listener for the end that came first': async (words) => {
    const end = once(words, 'end')
    const chunks = await words.toArray()
    await end
    return chunks.join('')
  },
  'an encoding': async (words) => (await words.setEncoding('utf8').toArray()).join(''),
  'a web stream': async (words) => {
    let text = ''
    for await (const chunk of Readable.toWeb(words)) text += Buffer.from(chunk)
    return text
  },
  unshift: async (words) => {
    words.unshift('zero')
    return (await words.toArray()).join('').replace(/^zero/, '')
  },
}

/** A body whose chunks arrive one by one after the call. */
function arriving(): BodyReadable {
  const { body } = makeBody()
  const chunks = [...WORDS]
  const next = (): void => {
    const chunk = chunks.shift()
    if (chunk === undefined) body.complete()
    else {
      body.receive(Buffer.from(chunk))
      setImmediate(next)
    }
  }
  setImmediate(next)
  return body
}

describe('a body that is streamed', () => {
  for (const [name, use] of Object.entries(USES)) {
    it(`${name}, all has arrived`, async () => {
      assert.equal(await use(arrived(WORDS)), 'onetwothree')
    })

    it(`${name}, all is still to arrive`, async () => {
      assert.equal(await use(arriving()), 'onetwothree')
    })
  }
})

describe('a body that is not streamed', () => {
  it('never runs its stream', async (t) => {
    const push = t.mock.method(Readable.prototype, 'push')
    const read = t.mock.method(Readable.prototype, 'read')
    assert.equal(await arrived(WORDS).text(), 'onetwothree')
    assert.equal(await arrived(WORDS).dump(), null)
    for await (const words of arrived(WORDS)) assert.equal(String(words), 'onetwothree')
    const text = arriving().text()
    assert.equal(await text, 'onetwothree')
    // The test runner has streams, too.
    const calls = [...push.mock.calls, ...read.mock.calls].filter((call) => call.this instanceof BodyReadable)
    assert.equal(calls.length, 0)
  })

  it('answers like a new Readable', () => {
    const { body } = makeBody({ highWaterMark: 16 })
    const other = new Readable({ highWaterMark: 16 })
    const asked = [
      'closed',
      'destroyed',
      'errored',
      'readable',
      'readableAborted',
      'readableDidRead',
      'readableEncoding',
      'readableEnded',
      'readableFlowing',
      'readableHighWaterMark',
      'readableLength',
      'readableObjectMode',
    ] as const
    for (const name of asked) assert.equal(body[name], other[name], name)
    assert.deepEqual(Object.keys(body), Object.keys(other))
  })

  it('is destroyed with its error', async () => {
    const { body } = makeBody()
    const error = new Error('enough')
    body.destroy(error)
    assert.equal(body.destroyed, true)
    assert.deepEqual(await once(body, 'error'), [error])
  })

  it('lets readableFlowing be set', () => {
    const { body } = makeBody()
    // The types declare it as read-only.
    Reflect.set(body, 'readableFlowing', false)
    assert.equal(body.readableFlowing, false)
    assert.equal(body.isPaused(), true)
  })

  it('is a Readable, with the functions of the class', () => {
    const { body } = makeBody()
    assert.ok(body instanceof Readable)
    assert.equal(Readable.isDisturbed(body), false)
    assert.equal((BodyReadable as unknown as typeof Readable).from, Readable.from)
  })

  it('takes no option from Object.prototype', async () => {
    const pollution = {
      value: () => assert.fail('read from Object.prototype'),
      enumerable: true,
      configurable: true,
    }
    Object.defineProperty(Object.prototype, 'destroy', pollution)
    try {
      const { body } = makeBody()
      body.destroy()
      await once(body, 'close').catch(() => {})
      assert.equal(body.destroyed, true)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'destroy')
    }
  })
})
