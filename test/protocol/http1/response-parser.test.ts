import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import type { ParsedHead } from '../../../src/protocol/http1/head-parser.ts'
import { HeadParsers } from '../../../src/protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../../src/protocol/http1/response-parser.ts'
import { type Callback, Recorder } from './transcript.ts'

/** Reactions inside chosen callbacks. */
class ReactingSink extends Recorder {
  reactions: Partial<Record<Callback, () => void>> = {}
  override react = (callback: Callback): void => this.reactions[callback]?.()
}

function setUp(maxHeaderSize = 16_384): { sink: ReactingSink; parser: ResponseParser } {
  const sink = new ReactingSink()
  return { sink, parser: new ResponseParser(sink, new HeadParsers({ maxHeaderSize })) }
}

function feed(parser: ResponseParser, text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return bytes.toString('latin1', parser.execute(bytes, 0, bytes.length))
}

const OK = 'HTTP/1.1 200 OK\r\n'
const EMPTY = `${OK}content-length: 0\r\n\r\n`
const FIVE = `${OK}content-length: 5\r\n\r\n`
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const UPGRADED = 'HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'

describe('ResponseParser: pausing', () => {
  const responses: Record<string, string> = {
    'counted body': `${FIVE}hello`,
    'empty body': EMPTY,
    chunked: `${CHUNKED}5\r\nhello\r\n3\r\nabc\r\n0\r\nx: y\r\n\r\n`,
    interim: `HTTP/1.1 103 Hints\r\n\r\n${FIVE}hello`,
  }
  for (const [name, text] of Object.entries(responses)) {
    it(`stops right after every callback and goes on with the rest: ${name}`, () => {
      const plain = setUp()
      plain.parser.expect('GET', false)
      feed(plain.parser, text)

      const { sink, parser } = setUp()
      parser.expect('GET', false)
      let callbacks = 0
      const pause = (): void => {
        callbacks++
        parser.pause()
      }
      sink.reactions = { begin: pause, informational: pause, head: pause, body: pause, end: pause }
      let rest = text
      let rounds = 0
      do {
        parser.resume()
        const before = callbacks
        rest = feed(parser, rest)
        assert.equal(callbacks - before, parser.status === 'paused' ? 1 : 0)
        rounds++
      } while (parser.status === 'paused')
      assert.equal(rest, '')
      assert.equal(rounds, callbacks + 1)
      assert.deepEqual(sink.flush(), plain.sink.flush())
      assert.equal(parser.status, 'more')
    })
  }

  it('reads nothing while paused', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    parser.pause()
    assert.equal(feed(parser, EMPTY), EMPTY)
    assert.deepEqual(sink.flush(), [])
    assert.equal(parser.status, 'paused')
  })

  it('goes on within the same call when resumed inside the callback', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.head = () => {
      parser.pause()
      assert.equal(parser.executing, true)
      parser.resume()
    }
    assert.equal(feed(parser, EMPTY), '')
    assert.equal(sink.flush().at(-1), 'end')
    assert.equal(parser.executing, false)
  })

  it('reports an end that was held back even when no byte is left', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.body = () => parser.pause()
    assert.equal(feed(parser, `${FIVE}hello`), '')
    assert.equal(sink.flush().at(-1), 'body "hello"')
    parser.resume()
    feed(parser, '')
    assert.equal(sink.flush().at(-1), 'end')
  })

  it('holds back an end of the stream until the rest has been fed', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.head = () => parser.pause()
    const rest = feed(parser, `${OK}\r\nhello`)
    assert.equal(rest, 'hello')
    parser.finish()
    assert.equal(sink.flush().at(-1), 'head 200 "OK" until-close close')
    parser.resume()
    feed(parser, rest)
    assert.deepEqual(sink.flush().slice(-2), ['body "hello"', 'end'])
    assert.equal(parser.status, 'ended')
  })

  it('finds a truncated body behind a pause', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.head = () => parser.pause()
    const rest = feed(parser, `${FIVE}hel`)
    parser.finish()
    assert.equal(parser.status, 'paused')
    parser.resume()
    feed(parser, rest)
    assert.equal(sink.flush().at(-1), 'body "hel"')
    assert.equal(parser.failure?.code, 'EOF_IN_BODY')
  })
})

describe('ResponseParser: what callbacks may do', () => {
  const texts: Record<Callback, string> = {
    begin: `${FIVE}hello`,
    informational: `HTTP/1.1 103 Hints\r\n\r\n${FIVE}hello`,
    head: `${FIVE}hello`,
    body: `${CHUNKED}5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n`,
    end: `${FIVE}hello and more`,
    upgrade: UPGRADED,
  }
  for (const callback of Object.keys(texts) as Callback[]) {
    it(`stop() inside ${callback}: nothing follows`, () => {
      const { sink, parser } = setUp()
      parser.expect('GET', callback === 'upgrade')
      let seen = -1
      sink.reactions[callback] = () => {
        parser.stop()
        assert.equal(seen, -1)
        seen = sink.flush().length
      }
      feed(parser, texts[callback])
      assert.equal(sink.flush().length, seen)
      assert.equal(parser.failure, null)
      assert.equal(parser.status, callback === 'upgrade' ? 'upgraded' : 'ended')
      assert.equal(feed(parser, 'abc'), 'abc')
      parser.finish()
      assert.equal(sink.flush().length, seen)
      assert.equal(parser.failure, null)
    })

    it(`an exception from ${callback} leaves the parser usable`, () => {
      const { sink, parser } = setUp()
      parser.expect('GET', callback === 'upgrade')
      sink.reactions[callback] = () => {
        throw new RangeError('from the sink')
      }
      assert.throws(() => feed(parser, texts[callback]), RangeError)
      assert.equal(parser.executing, false)
      assert.equal(parser.failure, null)
      sink.reactions = {}
      parser.stop()
      assert.equal(feed(parser, 'abc'), 'abc')
    })
  }

  it('reports the end of a message whose last body callback threw', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.body = () => {
      throw new RangeError('from the sink')
    }
    assert.throws(() => feed(parser, `${FIVE}hello`), RangeError)
    parser.finish()
    assert.equal(sink.flush().at(-1), 'end')
    assert.equal(parser.failure, null)
  })

  it('finish() inside a callback takes effect when the bytes are used up', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.head = () => parser.finish()
    feed(parser, `${OK}\r\nhello`)
    assert.deepEqual(sink.flush().slice(-2), ['body "hello"', 'end'])
    assert.equal(parser.status, 'ended')
  })

  it('refuses to be entered from its own callback', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.head = () => feed(parser, 'x')
    assert.throws(() => feed(parser, FIVE), InternalError)
  })

  it('takes the response to a request announced in the end callback', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.end = () => {
      if (parser.expecting === 0) parser.expect('GET', false)
    }
    feed(parser, EMPTY)
    feed(parser, EMPTY)
    assert.equal(sink.flush().filter((line) => line === 'end').length, 2)
    assert.equal(parser.failure, null)
  })

  it('CVE-2026-6733: bytes that were there before the request do not answer it', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.end = () => parser.expect('GET', false)
    const rest = feed(parser, EMPTY + EMPTY)
    assert.equal(parser.failure?.code, 'UNSOLICITED')
    assert.equal(rest, EMPTY)
    assert.equal(sink.flush().filter((line) => line === 'begin').length, 1)
  })

  it('CVE-2026-6733: a pause between the two does not help them', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    sink.reactions.end = () => parser.pause()
    feed(parser, EMPTY + EMPTY)
    assert.equal(parser.status, 'failed')
  })
})

describe('ResponseParser: what a connection can ask', () => {
  it('counts the responses owed', () => {
    const { parser } = setUp()
    assert.equal(parser.expecting, 0)
    parser.expect('GET', false)
    parser.expect('HEAD', false)
    assert.equal(parser.expecting, 2)
    feed(parser, EMPTY)
    assert.equal(parser.expecting, 1)
    feed(parser, 'HTTP/1.1 103 Hints\r\n\r\n')
    assert.equal(parser.expecting, 1)
    feed(parser, FIVE)
    assert.equal(parser.expecting, 0)
    assert.equal(parser.status, 'more')
  })

  it('keeps the order of a pipeline of thousands', () => {
    const { sink, parser } = setUp()
    const count = 3000
    for (let i = 0; i < count; i++) parser.expect(i % 3 === 0 ? 'HEAD' : 'GET', false)
    for (let i = 0; i < count; i++) feed(parser, i % 3 === 0 ? FIVE : `${FIVE}hello`)
    assert.equal(parser.expecting, 0)
    assert.equal(parser.failure, null)
    assert.equal(sink.flush().filter((line) => line === 'body "hello"').length, 2000)
  })

  it('points at the offending byte of the last buffer', () => {
    for (const cut of [0, 1, 20]) {
      const { parser } = setUp()
      parser.expect('GET', false)
      const bytes = Buffer.from(`${OK}good: x\r\nbad name: x\r\n\r\n`)
      parser.execute(bytes, 0, cut)
      const stop = parser.execute(bytes, cut, bytes.length)
      assert.equal(stop, bytes.indexOf(' name'))
      assert.equal(parser.failureOffset, stop)
      assert.equal(parser.status, 'failed')
      assert.deepEqual(parser.failure, {
        scope: 'connection',
        blame: 'peer',
        code: 'HPE_INVALID_HEADER_TOKEN',
        message: 'Invalid header token',
      })
    }
  })

  it('points at the offending byte of a chunked body and of trailers', () => {
    for (const body of ['5\r\nhelloX', '0\r\na b: c\r\n']) {
      const { parser } = setUp()
      parser.expect('GET', false)
      feed(parser, CHUNKED)
      const bytes = Buffer.from(`##${body}`)
      parser.execute(bytes, 2, bytes.length)
      assert.equal(parser.failureOffset, 2 + body.search(/X| b/))
    }
  })

  it('reads nothing more after a failure', () => {
    const { sink, parser } = setUp()
    parser.expect('GET', false)
    feed(parser, 'nonsense')
    const failure = parser.failure
    assert.equal(feed(parser, EMPTY), EMPTY)
    parser.finish()
    parser.stop()
    assert.equal(parser.failure, failure)
    assert.equal(parser.status, 'failed')
    assert.deepEqual(sink.flush(), ['begin'])
  })

  it('refuses a request when it has ended', () => {
    const { parser } = setUp()
    parser.stop()
    assert.equal(parser.status, 'ended')
    assert.throws(() => parser.expect('GET', false), InternalError)
  })

  it('an idle end of the stream is no failure', () => {
    const { parser } = setUp()
    parser.finish()
    parser.finish()
    assert.equal(parser.failure, null)
    assert.equal(parser.status, 'ended')
  })

  it('hands out head values that have nothing to do with the next response', () => {
    const heads: ParsedHead[] = []
    const sink = new Recorder()
    sink.onHead = (head) => heads.push(head)
    const parser = new ResponseParser(sink, new HeadParsers({ maxHeaderSize: 16_384 }))
    parser.expect('GET', false)
    parser.expect('GET', false)
    const slab = Buffer.from(`${OK}a: first\r\ncontent-length: 0\r\n\r\n`)
    parser.execute(slab, 0, slab.length)
    slab.fill('x')
    feed(parser, `HTTP/1.1 404 Other\r\na: second\r\nkeep-alive: timeout=3\r\ncontent-length: 0\r\n\r\n`)
    assert.deepEqual(heads[0]?.fields.toObject(), { a: 'first', 'content-length': '0' })
    assert.equal(heads[0]?.framing.keepAliveHint, null)
    assert.equal(heads[1]?.reason, 'Other')
    assert.equal(heads[1]?.framing.keepAliveHint, 3)
    assert.deepEqual(heads[1]?.fields.flat.slice(0, 2), ['a', 'second'])
  })
})

describe('ResponseParser: a head that comes again', () => {
  it('is not put together again, and its fields are handed out anew', () => {
    const { sink, parser } = setUp()
    const heads: ParsedHead[] = []
    sink.onHead = (head) => heads.push(head)
    for (let i = 0; i < 3; i++) {
      parser.expect('GET', false)
      feed(parser, `${OK}x: y\r\ncontent-length: 1\r\n\r\n${i}`)
    }
    assert.equal(heads[1]?.fields, heads[0]?.fields)
    assert.equal(heads[2]?.fields, heads[0]?.fields)
    const objects = heads.map(({ fields }) => fields.toObject())
    objects[1]!['x'] = 'changed'
    assert.deepEqual(heads[0]?.fields.toObject(), { x: 'y', 'content-length': '1' })
  })

  it('is recognised again after many that all differ, of which most were not compared', () => {
    const { sink, parser } = setUp()
    const heads: ParsedHead[] = []
    sink.onHead = (head) => heads.push(head)
    for (let i = 0; i < 300; i++) {
      parser.expect('GET', false)
      feed(
        parser,
        `${OK}X: ${i < 100 ? i : 'y'}\r\ncontent-length: 0\r\n${i % 2 ? 'Keep-Alive: timeout=9\r\n' : ''}\r\n`,
      )
    }
    for (const [i, { fields, framing }] of heads.slice(0, 200).entries()) {
      assert.equal(fields.toObject()['x'], i < 100 ? `${i}` : 'y')
      assert.equal(fields.flat[0], 'X')
      assert.equal(framing.keepAliveHint, i % 2 ? 9 : null)
    }
    for (let i = 0; i < 200; i++) {
      parser.expect('GET', false)
      feed(parser, `${OK}x: y\r\ncontent-length: 0\r\n\r\n`)
    }
    assert.equal(heads.at(-1)!.fields, heads.at(-2)!.fields)
  })

  it('is another one from its first byte that differs', () => {
    const { sink, parser } = setUp()
    const lengths: number[] = []
    sink.onHead = (head) => lengths.push(head.framing.contentLength)
    for (const length of [1, 1, 2, 1, 10]) {
      parser.expect('GET', false)
      feed(parser, `${OK}content-length: ${length}\r\n\r\n${'x'.repeat(length)}`)
    }
    assert.deepEqual(lengths, [1, 1, 2, 1, 10])
  })

  it('is reported as the interim response that it is', () => {
    const { sink, parser } = setUp()
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
    parser.expect('GET', true)
    feed(parser, hint)
    const first = sink.flush().splice(0)
    feed(parser, hint)
    assert.deepEqual(sink.flush().splice(0), first)
    assert.equal(feed(parser, `${UPGRADED}rest`), 'rest')
  })

  it('waits for a sink that pauses when the message begins', () => {
    const { sink, parser } = setUp()
    for (let i = 0; i < 2; i++) parser.expect('GET', false)
    feed(parser, `${FIVE}hello`)
    const first = sink.flush().splice(0)
    sink.reactions = { begin: () => parser.pause() }
    const rest = feed(parser, `${FIVE}hello`)
    assert.equal(parser.status, 'paused')
    assert.deepEqual(sink.flush(), first.slice(0, 1))
    parser.resume()
    assert.equal(feed(parser, rest), '')
    assert.deepEqual(sink.flush().splice(0), first)
  })

  it('is not reported to a sink that stops when the message begins', () => {
    const { sink, parser } = setUp()
    for (let i = 0; i < 2; i++) parser.expect('GET', false)
    feed(parser, `${FIVE}hello`)
    const [begin] = sink.flush().splice(0)
    sink.reactions = { begin: () => parser.stop() }
    assert.equal(feed(parser, `${FIVE}hello`), `${FIVE}hello`)
    assert.equal(parser.status, 'ended')
    assert.deepEqual(sink.flush(), [begin])
  })

  it('says what it says to the request that it answers', () => {
    const { sink, parser } = setUp()
    for (const method of ['GET', 'HEAD', 'GET']) parser.expect(method, false)
    feed(parser, `${FIVE}hello${FIVE}${FIVE}again`)
    assert.deepEqual(
      sink.flush().filter((line) => /^(?:body|end)/.test(line)),
      ['body "hello"', 'end', 'end', 'body "again"', 'end'],
    )
  })
})
