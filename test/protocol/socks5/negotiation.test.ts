// SOCKS 5 as bytes (RFC 1928, RFC 1929). Every conversation is held with all answers at once, and at every split of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ipBytes } from '../../../src/base/address/ip-address.ts'
import {
  type Credentials,
  type Destination,
  encodeAuth,
  encodeRequest,
} from '../../../src/protocol/socks5/messages.ts'
import { type NegotiationState, Socks5Negotiation } from '../../../src/protocol/socks5/negotiation.ts'

const NAME: Destination = { address: 'x.test', port: 443 }
const USER: Credentials = { username: Buffer.from('us@er'), password: Buffer.from('pässword') }

const NAME_REQUEST = '05010003 06 782e74657374 01bb'
const REPLY = '05000001 7f000001 0438'

interface Conversation {
  readonly destination?: Destination
  readonly credentials?: Credentials
  readonly answers: string
}

interface Outcome {
  readonly sent: string
  readonly state: NegotiationState
}

const bytesOf = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

function hold({ destination = NAME, credentials }: Conversation, pieces: readonly Buffer[]): Outcome {
  const negotiation = new Socks5Negotiation(destination, credentials ?? null)
  const sent = [negotiation.start()]
  for (const piece of pieces) sent.push(negotiation.receive(piece))
  return { sent: Buffer.concat(sent).toString('hex'), state: negotiation.state }
}

/** With every split into two pieces, and byte by byte; bytes after an end are only kept when they come with it. */
function holdEachWay(conversation: Conversation): Outcome {
  const answers = bytesOf(conversation.answers)
  const whole = hold(conversation, [answers])
  for (let at = 0; at <= answers.length; at++) {
    assert.deepEqual(
      hold(conversation, [answers.subarray(0, at), answers.subarray(at)]),
      whole,
      `split at ${at}`,
    )
  }
  const single = Array.from(answers, (byte) => Buffer.of(byte))
  assert.deepEqual(hold(conversation, single), whole, 'byte by byte')
  return whole
}

function opens(conversation: Conversation, sent: string): void {
  const outcome = holdEachWay(conversation)
  assert.equal(outcome.sent, sent.replaceAll(' ', ''))
  assert.equal(outcome.state.at, 'open')
}

function fails(
  conversation: Conversation,
  step: string,
  code: string,
  message: string,
  reply: number | null = null,
): void {
  const { state } = holdEachWay(conversation)
  assert.ok(state.at === 'failed')
  const { failure } = state
  assert.deepEqual([state.step, failure.code, failure.message, failure.reply], [step, code, message, reply])
  assert.equal(failure.blame, code === 'UND_ERR_INVALID_ARG' ? 'caller' : 'peer')
}

test('without credentials only "no authentication" is offered', () => {
  opens({ answers: `0500 ${REPLY}` }, `050100 ${NAME_REQUEST}`)
})

test('with credentials both are offered, and the proxy may want none', () => {
  opens({ credentials: USER, answers: `0500 ${REPLY}` }, `05020200 ${NAME_REQUEST}`)
})

test('name and password are sent in UTF-8 when the proxy asks for them', () => {
  const auth = '01 05 7573406572 09 70c3a47373776f7264'
  opens({ credentials: USER, answers: `0502 0100 ${REPLY}` }, `05020200 ${auth} ${NAME_REQUEST}`)
})

test('an empty password is sent as one', () => {
  const credentials = { username: Buffer.from('u'), password: Buffer.alloc(0) }
  opens({ credentials, answers: `0502 0100 ${REPLY}` }, `05020200 01 01 75 00 ${NAME_REQUEST}`)
})

test('an IPv4 address is sent as four bytes', () => {
  const destination = { address: ipBytes('127.0.0.1')!, port: 80 }
  opens({ destination, answers: `0500 ${REPLY}` }, '050100 05010001 7f000001 0050')
})

test('an IPv6 address is sent as sixteen bytes', () => {
  const destination = { address: ipBytes('::1')!, port: 65_535 }
  opens({ destination, answers: `0500 ${REPLY}` }, `050100 05010004 ${'00'.repeat(15)}01 ffff`)
})

test('the reply may name the address of the proxy in any type', () => {
  const replies = [
    REPLY,
    `05000004 ${'00'.repeat(15)}01 0438`,
    '05000003 00 0438',
    '05000003 03 702e74 0438',
    `05000003 ff ${'61'.repeat(255)} 0438`,
    // Some proxies do not care about the reserved byte.
    '0500ff01 00000000 0000',
  ]
  for (const reply of replies) opens({ answers: `0500 ${reply}` }, `050100 ${NAME_REQUEST}`)
})

test('bytes after the reply belong to the tunnel', () => {
  const early = bytesOf(`0500 ${REPLY} 160301`)
  const { state } = hold({ answers: '' }, [early])
  assert.ok(state.at === 'open')
  assert.equal(state.rest.toString('hex'), '160301')
})

test('as long as an answer is not complete, the state is the message that waits for it', () => {
  const at = (answers: string, credentials?: Credentials): string =>
    hold({ answers, ...(credentials && { credentials }) }, [bytesOf(answers)]).state.at
  assert.equal(at(''), 'greeting')
  assert.equal(at('05'), 'greeting')
  assert.equal(at('0500'), 'request')
  assert.equal(at('0502', USER), 'auth')
  assert.equal(at('0502 01', USER), 'auth')
  assert.equal(at(`0500 ${REPLY.slice(0, -2)}`), 'request')
})

test('another version in the first answer', () => {
  const code = 'UND_ERR_SOCKS5_VERSION'
  fails({ answers: '0400' }, 'greeting', code, 'Invalid SOCKS version: 4')
  fails({ answers: '00' }, 'greeting', code, 'Invalid SOCKS version: 0')
})

test('an answer in HTTP or TLS is recognised', () => {
  const http = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n').toString('hex')
  const code = 'UND_ERR_SOCKS5_VERSION'
  fails({ answers: http }, 'greeting', code, 'Invalid SOCKS version: 72, the answer is HTTP')
  fails({ answers: '15030100020246' }, 'greeting', code, 'Invalid SOCKS version: 21, the answer is TLS')
})

test('the proxy accepts no method', () => {
  fails(
    { answers: '05ff' },
    'greeting',
    'UND_ERR_SOCKS5_AUTH_REJECTED',
    'No acceptable authentication method',
  )
})

test('the proxy chooses a method that was not offered', () => {
  const code = 'UND_ERR_SOCKS5_AUTH_METHOD'
  fails({ answers: '0501' }, 'greeting', code, 'Unsupported authentication method: 1')
  fails({ answers: '0580' }, 'greeting', code, 'Unsupported authentication method: 128')
})

test('the proxy wants credentials that there are not', () => {
  fails(
    { answers: '0502' },
    'greeting',
    'UND_ERR_INVALID_ARG',
    'Username and password required for authentication',
  )
})

test('another version in the answer to the credentials', () => {
  fails(
    { credentials: USER, answers: '0502 0500' },
    'auth',
    'UND_ERR_SOCKS5_AUTH_VERSION',
    'Invalid auth sub-negotiation version: 5',
  )
})

test('wrong credentials', () => {
  for (const status of ['01', 'ff']) {
    fails(
      { credentials: USER, answers: `0502 01${status}` },
      'auth',
      'UND_ERR_SOCKS5_AUTH_FAILED',
      'Authentication failed',
    )
  }
})

test('each reply is an error that says what it means, as soon as its code has come', () => {
  const meanings = [
    'General SOCKS server failure',
    'Connection not allowed by ruleset',
    'Network unreachable',
    'Host unreachable',
    'Connection refused',
    'TTL expired',
    'Command not supported',
    'Address type not supported',
    'Unknown error code: 9',
  ]
  meanings.forEach((meaning, index) => {
    const reply = index + 1
    for (const tail of ['', '00', '0001000000000000', '0009']) {
      fails(
        { answers: `0500 050${reply} ${tail}` },
        'request',
        `UND_ERR_SOCKS5_REPLY_${reply}`,
        `SOCKS5 connection failed: ${meaning}`,
        reply,
      )
    }
  })
  fails(
    { answers: '0500 05ff' },
    'request',
    'UND_ERR_SOCKS5_REPLY_255',
    'SOCKS5 connection failed: Unknown error code: 255',
    255,
  )
})

test('another version in the reply', () => {
  fails(
    { answers: '0500 045a' },
    'request',
    'UND_ERR_SOCKS5_REPLY_VERSION',
    'Invalid SOCKS version in reply: 4',
  )
})

test('an unknown type of address in the reply', () => {
  for (const type of [0, 2, 5, 255]) {
    fails(
      { answers: `0500 050000${type.toString(16).padStart(2, '0')}` },
      'request',
      'UND_ERR_SOCKS5_ADDR_TYPE',
      `Invalid address type in reply: ${type}`,
    )
  }
})

test('nothing is sent or read after an end', () => {
  const negotiation = new Socks5Negotiation(NAME, null)
  negotiation.receive(bytesOf('05ff'))
  const { state } = negotiation
  assert.equal(negotiation.receive(bytesOf(`0500 ${REPLY}`)).length, 0)
  assert.equal(negotiation.state, state)
})

test('a field that its length byte cannot describe is never written', () => {
  const long = Buffer.alloc(256)
  const short = Buffer.alloc(255)
  assert.throws(() => encodeAuth({ username: long, password: short }), { name: 'InternalError' })
  assert.throws(() => encodeAuth({ username: short, password: long }), { name: 'InternalError' })
  assert.throws(() => encodeRequest({ address: 'a'.repeat(256), port: 1 }), { name: 'InternalError' })
  assert.equal(encodeAuth({ username: short, password: short }).length, 513)
  assert.equal(encodeRequest({ address: 'a'.repeat(255), port: 1 }).length, 262)
})

test('any bytes in any pieces end in the same state, never in an exception', () => {
  const byte = fc.oneof(fc.constantFrom(0, 1, 2, 3, 4, 5, 255), fc.integer({ min: 0, max: 255 }))
  const beginning = fc.constantFrom(
    '',
    '0500',
    '0502',
    '0502 0100',
    '0500 0500',
    '0500 050000',
    '0500 05000003',
  )
  fc.assert(
    fc.property(
      beginning,
      fc.array(byte, { maxLength: 40 }),
      fc.array(fc.nat(40), { maxLength: 6 }),
      fc.boolean(),
      (start, more, cuts, hasUser) => {
        const answers = Buffer.concat([bytesOf(start), Buffer.from(more)])
        const places = [0, ...cuts.map((cut) => Math.min(cut, answers.length)).sort((a, b) => a - b)]
        const pieces = places.map((from, index) =>
          answers.subarray(from, places[index + 1] ?? answers.length),
        )
        const conversation = hasUser ? { credentials: USER, answers: '' } : { answers: '' }
        const whole = hold(conversation, [answers])
        const split = hold(conversation, pieces)
        assert.equal(split.sent, whole.sent)
        // Bytes that come after the one that opened the tunnel are not the negotiation's.
        if (whole.state.at === 'open') assert.equal(split.state.at, 'open')
        else assert.deepEqual(split.state, whole.state)
      },
    ),
  )
})
