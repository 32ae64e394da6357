import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { SleepingReadable } from '../../src/api/sleeping-readable.ts'

class Words extends SleepingReadable {
  readonly #words = ['one', 'two', 'three']

  override _read(): void {
    this.push(this.#words.shift() ?? null)
  }
}

/** A stream that has been used has properties of its own, the runtime's. */
function isMade(stream: Readable): boolean {
  return Object.keys(stream).length > 0
}

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

describe('SleepingReadable', () => {
  for (const [name, use] of Object.entries(USES)) {
    for (const sleeps of [true, false]) {
      it(`${name}, ${sleeps ? 'made when used' : 'made at once'}`, async () => {
        const words = new Words(16, sleeps)
        assert.equal(isMade(words), !sleeps)
        assert.equal(await use(words), 'onetwothree')
        assert.equal(isMade(words), true)
      })
    }
  }

  it('sleeps where the runtime is one that we know', () => {
    assert.equal(isMade(new Words(16)), false)
  })

  it('says what a new Readable says, and goes on sleeping', () => {
    const words = new Words(16)
    const other = new Readable({ highWaterMark: 16 })
    const asked = ['destroyed', 'readableDidRead', 'readableFlowing', 'readableHighWaterMark'] as const
    for (const name of asked) assert.equal(words[name], other[name], name)
    assert.equal(words.listenerCount('end'), 0)
    assert.equal(isMade(words), false)
  })

  it('says what a new Readable says when it is woken up by that', () => {
    const asked = [
      'readable',
      'readableEnded',
      'readableLength',
      'readableObjectMode',
      'closed',
      'errored',
    ] as const
    const other = new Readable({ highWaterMark: 16 })
    for (const name of asked) assert.equal(new Words(16)[name], other[name], name)
  })

  it('answers as it is when it is awake', async () => {
    const words = new Words(16)
    words.resume()
    assert.equal(words.readableFlowing, true)
    await once(words, 'close')
    assert.equal(words.readableDidRead, true)
    assert.equal(words.destroyed, true)
    assert.equal(words.readableHighWaterMark, 16)
  })

  it('is destroyed with its error', async () => {
    const words = new Words(16)
    const error = new Error('enough')
    words.destroy(error)
    assert.equal(words.destroyed, true)
    assert.deepEqual(await once(words, 'error'), [error])
  })

  it('lets readableFlowing be set', () => {
    const words = new Words(16)
    words.readableFlowing = false
    assert.equal(words.readableFlowing, false)
    assert.equal(words.isPaused(), true)
  })

  it('keeps listeners that came before it was made', () => {
    const words = new Words(16)
    let heard = 0
    EventEmitter.prototype.on.call(words, 'word', () => heard++)
    words.pause()
    words.emit('word')
    assert.equal(heard, 1)
    assert.equal(words.listenerCount('word'), 1)
  })

  it('is a Readable, with the functions of the class', () => {
    const words = new Words(16)
    assert.ok(words instanceof Readable)
    assert.ok(words instanceof EventEmitter)
    assert.equal(Readable.isDisturbed(words), false)
    assert.equal((SleepingReadable as unknown as typeof Readable).from, Readable.from)
  })

  it('lets a prototype be looked at', () => {
    assert.equal(Reflect.get(Words.prototype, '_readableState'), undefined)
    assert.equal(isMade(new Words(16)), false)
  })

  it('takes no option from Object.prototype', async () => {
    const pollution = {
      value: () => assert.fail('read from Object.prototype'),
      enumerable: true,
      configurable: true,
    }
    Object.defineProperty(Object.prototype, 'destroy', pollution)
    try {
      const words = new Words(16)
      words.destroy()
      await once(words, 'close')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'destroy')
    }
  })
})
