/** The class `Request`: its arguments, properties and refusals. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { fetch, Headers, Request, setGlobalOrigin } from '../../src/index.ts'
import { EagerSignal, HastySignal } from '../support/eager-signal.ts'

const URL_ = 'http://a.test/'
const make = (init: unknown, input: unknown = URL_): Request => new Request(input as string, init as never)

function stream(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
}

/** Arguments that the constructor and `fetch` refuse; `fetch` rejects and never throws. */
async function refusal(init: unknown, input: unknown = URL_): Promise<Error> {
  let thrown: unknown
  try {
    make(init, input)
  } catch (error) {
    thrown = error
  }
  const dispatcher = { dispatch: () => assert.fail('nothing is to be sent') }
  const given = typeof init === 'object' && init !== null ? { dispatcher, ...init } : init
  const rejected = await fetch(input as string, given as never).then(
    () => assert.fail('fetched'),
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof TypeError, String(thrown))
  assert.ok(rejected instanceof TypeError, String(rejected))
  assert.equal(rejected.message, thrown.message)
  return thrown
}

function locked(): ReadableStream {
  const made = stream('x')
  made.getReader()
  return made
}

describe('what a request is refused for', () => {
  const rows: [title: string, init: unknown, message: string][] = [
    ['init is no object', 1, 'Request constructor: Expected 1 to be one of: Null, Undefined, Object.'],
    ['window', { window: 'client' }, "'window' option 'client' must be null"],
    ['navigate', { mode: 'navigate' }, 'Request constructor: invalid request mode navigate.'],
    [
      'mode',
      { mode: 'x' },
      'RequestInit: x is not an accepted type. Expected one of navigate, same-origin, no-cors, cors.',
    ],
    [
      'credentials',
      { credentials: 'x' },
      'RequestInit: x is not an accepted type. Expected one of omit, same-origin, include.',
    ],
    [
      'cache',
      { cache: 'x' },
      'RequestInit: x is not an accepted type. Expected one of default, no-store, reload, no-cache, force-cache, only-if-cached.',
    ],
    [
      'redirect',
      { redirect: 'x' },
      'RequestInit: x is not an accepted type. Expected one of follow, manual, error.',
    ],
    [
      'referrerPolicy',
      { referrerPolicy: 'x' },
      'RequestInit: x is not an accepted type. Expected one of , no-referrer, no-referrer-when-downgrade, same-origin, origin, strict-origin, origin-when-cross-origin, strict-origin-when-cross-origin, unsafe-url.',
    ],
    ['duplex', { duplex: 'full' }, 'RequestInit: full is not an accepted type. Expected one of half.'],
    [
      'priority',
      { priority: 'x' },
      'RequestInit: x is not an accepted type. Expected one of high, low, auto.',
    ],
    [
      'only-if-cached',
      { cache: 'only-if-cached' },
      "'only-if-cached' can be set only with 'same-origin' mode",
    ],
    ['method', { method: 'a b' }, "'a b' is not a valid HTTP method."],
    ['CONNECT', { method: 'connect' }, "'connect' HTTP method is unsupported."],
    ['TRACE', { method: 'TRACE' }, "'TRACE' HTTP method is unsupported."],
    ['TRACK', { method: 'Track' }, "'Track' HTTP method is unsupported."],
    ['body with GET', { body: 'x' }, 'Request with GET/HEAD method cannot have body.'],
    ['body with HEAD', { method: 'head', body: 'x' }, 'Request with GET/HEAD method cannot have body.'],
    [
      'a stream without duplex',
      { method: 'POST', body: new ReadableStream() },
      'RequestInit: duplex option is required when sending a body.',
    ],
    [
      'a stream with no-cors',
      { method: 'POST', body: new ReadableStream(), duplex: 'half', mode: 'no-cors' },
      'If request is made from ReadableStream, mode should be "same-origin" or "cors"',
    ],
    [
      'a stream with keepalive',
      { method: 'POST', body: new ReadableStream(), duplex: 'half', keepalive: true },
      'keepalive',
    ],
    [
      'a locked stream',
      { method: 'POST', body: locked(), duplex: 'half' },
      'Response body object should not be disturbed or locked',
    ],
    ['header name', { headers: { 'a b': '1' } }, 'Headers.append: "a b" is an invalid header name.'],
    ['header value', { headers: { a: '1\n2' } }, 'Headers.append: "1\n2" is an invalid header value.'],
    [
      'header character',
      { headers: { a: '€' } },
      'Cannot convert argument to a ByteString because the character at index 0 has a value of 8364 which is greater than 255.',
    ],
    [
      'headers of no kind',
      { headers: null },
      'Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.',
    ],
    ['signal', { signal: {} }, 'RequestInit: Expected signal ("{}") to be an instance of AbortSignal.'],
    [
      'signal without aborted',
      { signal: new EventTarget() },
      'RequestInit: Expected signal ("EventTarget {}") to be an instance of AbortSignal.',
    ],
    ['signal 1', { signal: 1 }, 'RequestInit: Expected signal ("1") to be an instance of AbortSignal.'],
    ['referrer', { referrer: 'http://' }, 'Referrer "http://" is not a valid URL.'],
  ]
  for (const [title, init, message] of rows) {
    test(title, async () => assert.equal((await refusal(init)).message, message))
  }

  test('no URL', async () => {
    for (const input of ['/x', null, '', 'http://', {}]) {
      const error = await refusal({}, input)
      assert.equal(error.message, `Failed to parse URL from ${String(input)}`)
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ERR_INVALID_URL')
    }
    assert.throws(() => Reflect.construct(Request, []), {
      message: 'Request constructor: 1 argument required, but 0 found.',
    })
    await assert.rejects((fetch as () => Promise<unknown>)(), TypeError)
  })

  test('user or password in the URL', async () => {
    for (const input of ['http://u:p@a.test/', 'http://u@a.test/', 'http://:p@a.test/']) {
      assert.equal(
        (await refusal({}, input)).message,
        `Request cannot be constructed from a URL that includes credentials: http://a.test/`,
      )
    }
  })

  test('a request that was used, as it was left', async () => {
    const used = new Request(URL_, { method: 'POST', body: 'x' })
    await used.text()
    const message = 'Cannot construct a Request with a Request object that has already been used.'
    assert.equal((await refusal({}, used)).message, message)
    assert.throws(() => used.clone(), { name: 'TypeError', message: 'unusable' })
    assert.equal(new Request(used, { body: 'new' }).method, 'POST')
    const kept = new Request(URL_, { method: 'POST', body: 'x' })
    assert.throws(() => new Request(kept, { method: 'GET' }), /GET\/HEAD/)
    assert.throws(() => new Request(kept, { signal: {} as never }), TypeError)
    assert.equal(await kept.text(), 'x')
  })
})

describe('a request', () => {
  test('has its defaults', () => {
    const request = new Request(URL_)
    const { method, url, destination, referrer, referrerPolicy, mode, credentials, cache } = request
    assert.deepEqual(
      [method, url, destination, referrer, referrerPolicy, mode, credentials, cache],
      ['GET', URL_, '', 'about:client', '', 'cors', 'same-origin', 'default'],
    )
    const { redirect, integrity, keepalive, isReloadNavigation, isHistoryNavigation, duplex } = request
    assert.deepEqual(
      [redirect, integrity, keepalive, isReloadNavigation, isHistoryNavigation, duplex],
      ['follow', '', false, false, false, 'half'],
    )
    assert.deepEqual([request.body, request.bodyUsed, request.signal.aborted], [null, false, false])
    assert.equal(request.signal, request.signal)
    assert.ok(request.headers instanceof Headers)
    assert.equal(request.headers, request.headers)
  })

  test('follows a signal that fires while it gets its listener', () => {
    for (const Signal of [EagerSignal, HastySignal]) {
      const reason = new Error('enough')
      const { signal } = new Request('http://a.test', {
        signal: new Signal(reason) as unknown as AbortSignal,
      })
      assert.deepEqual([signal.aborted, signal.reason], [true, reason])
    }
  })

  test('keeps what it is told', () => {
    const init = {
      cache: 'reload',
      credentials: 'include',
      integrity: 'sha256-x',
      keepalive: true,
      method: 'Custom',
      mode: 'same-origin',
      priority: 'high',
      redirect: 'manual',
      referrer: 'http://b.test/x',
      referrerPolicy: 'origin',
    } as const
    for (const request of [
      new Request(URL_, init),
      new Request(new Request(URL_, init)),
      new Request(URL_, init).clone(),
    ]) {
      for (const [name, value] of Object.entries(init)) {
        if (name !== 'priority') assert.equal(request[name as 'method'], value, name)
      }
    }
    assert.equal(make({ referrer: '' }).referrer, '')
    assert.equal(make({ referrer: 'about:client' }).referrer, 'about:client')
    assert.equal(make(null).method, 'GET')
    assert.equal(make(() => {}).method, 'GET')
  })

  test('methods: the usual ones in upper case, others as they are; patch is warned of once', (t) => {
    const warnings: unknown[] = []
    t.mock.method(process, 'emitWarning', (...args: unknown[]) => void warnings.push(args[1]))
    for (const method of ['delete', 'get', 'head', 'options', 'post', 'put']) {
      assert.equal(make({ method }).method, method.toUpperCase())
    }
    assert.deepEqual([make({ method: 'patch' }).method, make({ method: 'patch' }).method], ['patch', 'patch'])
    assert.deepEqual(warnings, [{ code: 'UNDICI-FETCH-patch' }])
  })

  test('init is read once, by name', () => {
    const reads: string[] = []
    const names =
      'body cache credentials dispatcher duplex headers integrity keepalive method mode redirect referrer referrerPolicy signal window'
    const init = new Proxy(
      { method: 'POST', body: 'x' },
      {
        get(target, name) {
          if (typeof name === 'string' && names.split(' ').includes(name)) reads.push(name)
          return Reflect.get(target, name)
        },
      },
    )
    const request = new Request(new Request(URL_, { method: 'POST', body: 'y' }), init)
    assert.equal(request.method, 'POST')
    assert.equal(reads.join(' '), names)
  })

  test('any member of init takes back referrer and policy', () => {
    const first = new Request(URL_, { referrer: 'http://b.test/', referrerPolicy: 'origin' })
    assert.deepEqual(
      [new Request(first).referrer, new Request(first).referrerPolicy],
      ['http://b.test/', 'origin'],
    )
    for (const init of [
      { body: null },
      { cache: 'reload' },
      { credentials: 'omit' },
      { duplex: 'half' },
      { headers: {} },
      { integrity: '' },
      { keepalive: false },
      { method: 'GET' },
      { mode: 'cors' },
      { priority: 'high' },
      { redirect: 'follow' },
      { signal: null },
      { window: null },
    ] as const) {
      const second = new Request(first, init)
      const name = Object.keys(init)[0]
      assert.deepEqual([second.referrer, second.referrerPolicy], ['about:client', ''], name)
    }
    assert.equal(new Request(first, { referrerPolicy: 'same-origin' }).referrer, 'about:client')
    assert.equal(new Request(first, { referrer: 'http://c.test/' }).referrerPolicy, '')
  })

  test('headers: those of init instead of those of the request', () => {
    const first = new Request(URL_, { headers: { a: '1' } })
    assert.deepEqual([...new Request(first).headers], [['a', '1']])
    assert.deepEqual([...new Request(first, { headers: { b: '2' } }).headers], [['b', '2']])
    for (const second of [new Request(first), first.clone()]) {
      second.headers.set('a', 'changed')
      assert.equal(first.headers.get('a'), '1')
    }
  })

  test('the type of the body is added unless the headers have one', () => {
    const post = { method: 'POST', body: 'x' }
    assert.equal(new Request(URL_, post).headers.get('content-type'), 'text/plain;charset=UTF-8')
    const typed = new Request(URL_, { ...post, headers: { 'Content-Type': 'a/b' } })
    assert.equal(typed.headers.get('content-type'), 'a/b')
    assert.equal(new Request(typed, { body: 'y' }).headers.get('content-type'), 'a/b')
  })

  test('relative URLs are relative to the global origin, and so are referrers', (t) => {
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin('http://base.test/dir/')
    assert.equal(new Request('x').url, 'http://base.test/dir/x')
    setGlobalOrigin('http://other.test/')
    assert.equal(new Request('x').url, 'http://other.test/x')
    assert.equal(make({ referrer: '/page' }).referrer, 'http://other.test/page')
    assert.equal(make({ referrer: 'http://stranger.test/' }).referrer, 'about:client')
  })

  test('a URL with a scheme and without a host is relative to the global origin of now', (t) => {
    t.after(() => setGlobalOrigin(undefined))
    const rows: [text: string, alone: string, withBase: string][] = [
      ['http:here', 'http://here/', 'http://base.test/dir/here'],
      ['http:/here', 'http://here/', 'http://base.test/here'],
      ['HTTP:here', 'http://here/', 'http://base.test/dir/here'],
      [' http:here', 'http://here/', 'http://base.test/dir/here'],
      ['https:here', 'https://here/', 'https://here/'],
      ['http://here', 'http://here/', 'http://here/'],
      ['data:,here', 'data:,here', 'data:,here'],
    ]
    for (const [text, alone, withBase] of rows) {
      for (const origin of [undefined, 'http://base.test/dir/', undefined]) {
        setGlobalOrigin(origin)
        // The second time it may come from a cache.
        for (const _ of [1, 2]) assert.equal(new Request(text).url, origin === undefined ? alone : withBase)
      }
    }
  })

  test('a request made from another one takes its body', async () => {
    const first = new Request(URL_, { method: 'POST', body: 'text' })
    const second = new Request(first)
    assert.deepEqual([first.bodyUsed, second.bodyUsed], [true, false])
    assert.equal(second.headers.get('content-type'), 'text/plain;charset=UTF-8')
    assert.equal(await second.text(), 'text')
    const streamed = new Request(URL_, { method: 'POST', body: stream('a', 'b'), duplex: 'half' })
    const proxied = new Request(streamed)
    assert.deepEqual([streamed.bodyUsed, streamed.body?.locked], [true, true])
    assert.equal(await proxied.text(), 'ab')
    const touched = new Request(URL_, { method: 'POST', body: 'seen' })
    assert.equal(touched.body?.locked, false)
    assert.equal(await new Request(touched).text(), 'seen')
  })

  test('console.log shows it', () => {
    const shown = inspect(new Request(URL_, { headers: { a: '1' } }))
    assert.equal(
      shown,
      `Request {
  method: 'GET',
  url: 'http://a.test/',
  headers: Headers { a: '1' },
  destination: '',
  referrer: 'about:client',
  referrerPolicy: '',
  mode: 'cors',
  credentials: 'same-origin',
  cache: 'default',
  redirect: 'follow',
  integrity: '',
  keepalive: false,
  isReloadNavigation: false,
  isHistoryNavigation: false,
  signal: AbortSignal { aborted: false }
}`,
    )
  })
})

describe('the signal of a request', () => {
  test('follows that of init, with its reason; null is none', () => {
    const controller = new AbortController()
    const request = new Request(URL_, { signal: controller.signal })
    assert.notEqual(request.signal, controller.signal)
    controller.abort('why')
    assert.deepEqual([request.signal.aborted, request.signal.reason], [true, 'why'])
    assert.equal(new Request(request, { signal: null }).signal.aborted, false)
    assert.equal(new Request(request).signal.reason, 'why')
  })

  test('adds no listener to that of init, however many requests share it', () => {
    const { signal } = new AbortController()
    const requests = Array.from({ length: 20 }, () => new Request(URL_, { signal }))
    for (const request of requests) assert.equal(request.signal.aborted, false)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  test('that of the original is told before that of the clone', () => {
    const controller = new AbortController()
    const request = new Request(URL_, { signal: controller.signal })
    const clone = request.clone()
    const order: string[] = []
    // Asked for first, it is still not the first to be aborted.
    assert.equal(clone.signal.aborted, false)
    // Node 24 notifies dependent signals in the order in which listeners were added to them.
    request.signal.addEventListener('abort', () => order.push('original'))
    clone.signal.addEventListener('abort', () => order.push('clone'))
    controller.abort('why')
    assert.deepEqual(order, ['original', 'clone'])
    assert.equal(clone.signal.reason, 'why')
  })

  test('any event target that can be aborted will do', () => {
    const foreign = Object.assign(new EventTarget(), { aborted: false, reason: undefined as unknown })
    const request = new Request(URL_, { signal: foreign as never })
    const { signal } = request
    foreign.aborted = true
    foreign.reason = 'theirs'
    foreign.dispatchEvent(new Event('abort'))
    assert.deepEqual([signal.aborted, signal.reason], [true, 'theirs'])
    const late = new Request(URL_, { signal: foreign as never })
    assert.equal(late.signal.reason, 'theirs')
  })
})
