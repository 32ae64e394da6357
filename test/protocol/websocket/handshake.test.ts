import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HeaderObject } from '../../../src/protocol/header-block.ts'
import { isReceivable, isSendable } from '../../../src/protocol/websocket/close-code.ts'
import { parseExtensions, readAgreement } from '../../../src/protocol/websocket/extension.ts'
import { judgeAnswer } from '../../../src/protocol/websocket/handshake.ts'
import { checkSubprotocols, listItems } from '../../../src/protocol/websocket/subprotocol.ts'

const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
const answer = (more: HeaderObject = {}): HeaderObject => ({
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-accept': ACCEPT,
  ...more,
})

describe('the answer over HTTP/1.1', () => {
  const judge = (headers: HeaderObject, protocols: string[] = [], status = 101): unknown =>
    judgeAnswer({ protocols, accept: ACCEPT }, status, headers)

  it('is accepted in any letter case, and among other connection options', () => {
    const agreed = { protocol: '', extensions: '', deflate: null }
    assert.deepEqual(judge(answer()), agreed)
    assert.deepEqual(judge(answer({ upgrade: 'WebSocket', connection: 'keep-alive, UPGRADE' })), agreed)
    assert.deepEqual(judge(answer({ connection: ['keep-alive', 'upgrade'] })), agreed)
  })

  const { upgrade: _u, ...noUpgrade } = answer()
  const { connection: _c, ...noConnection } = answer()
  const { 'sec-websocket-accept': _a, ...noAccept } = answer()
  const refused: [string, HeaderObject, string[], RegExp][] = [
    ['no upgrade', noUpgrade, [], /Upgrade header/],
    ['another upgrade', answer({ upgrade: 'h2c' }), [], /Upgrade header/],
    ['two upgrades', answer({ upgrade: ['websocket', 'websocket'] }), [], /Upgrade header/],
    ['no connection', noConnection, [], /Connection header/],
    ['another connection option', answer({ connection: 'upgraded' }), [], /Connection header/],
    ['no accept', noAccept, [], /Sec-WebSocket-Accept/],
    ['a wrong accept', answer({ 'sec-websocket-accept': ACCEPT.toLowerCase() }), [], /Sec-WebSocket-Accept/],
    ['two accepts', answer({ 'sec-websocket-accept': [ACCEPT, ACCEPT] }), [], /Sec-WebSocket-Accept/],
    [
      'a subprotocol nobody asked for',
      answer({ 'sec-websocket-protocol': 'chat' }),
      [],
      /Protocol was not set/,
    ],
    ['no subprotocol', answer(), ['chat'], /Protocol was not set/],
    ['another subprotocol', answer({ 'sec-websocket-protocol': 'Chat' }), ['chat'], /Protocol was not set/],
    ['two subprotocols', answer({ 'sec-websocket-protocol': 'a, b' }), ['a', 'b'], /Protocol was not set/],
    ['another extension', answer({ 'sec-websocket-extensions': 'x' }), [], /not offered/],
    ['no extension in the field', answer({ 'sec-websocket-extensions': '' }), [], /Invalid Sec-WebSocket/],
    [
      'the extension twice',
      answer({ 'sec-websocket-extensions': ['permessage-deflate', 'x'] }),
      [],
      /not offered/,
    ],
  ]
  for (const [name, headers, protocols, message] of refused) {
    it(`is refused with ${name}`, () => {
      const verdict = judge(headers, protocols)
      assert.equal(typeof verdict, 'string')
      assert.match(verdict as string, message)
    })
  }

  it('does not take fields from the prototype', () => {
    const polluted = Object.create(answer()) as HeaderObject
    assert.match(judge(polluted) as string, /Upgrade header/)
  })

  it('gives what was agreed on', () => {
    const headers = answer({
      'sec-websocket-protocol': 'b',
      'sec-websocket-extensions': 'permessage-deflate; server_no_context_takeover',
    })
    assert.deepEqual(judge(headers, ['a', 'b']), {
      protocol: 'b',
      extensions: 'permessage-deflate; server_no_context_takeover',
      deflate: {
        serverWindowBits: 15,
        serverNoContextTakeover: true,
        clientWindowBits: 15,
        clientNoContextTakeover: false,
      },
    })
  })

  it('over HTTP/2 has neither upgrade nor key, and the status 200', () => {
    assert.deepEqual(judge({}, [], 200), { protocol: '', extensions: '', deflate: null })
    assert.match(judge({}, ['chat'], 200) as string, /Protocol was not set/)
    assert.match(judge({}, [], 204) as string, /non-101/)
    assert.match(judge(answer(), [], 302) as string, /non-101/)
  })
})

describe('permessage-deflate parameters', () => {
  const agreed = (value: string): unknown => readAgreement(`permessage-deflate${value}`)
  const defaults = {
    serverWindowBits: 15,
    serverNoContextTakeover: false,
    clientWindowBits: 15,
    clientNoContextTakeover: false,
  }

  it('that are valid', () => {
    assert.deepEqual(agreed(''), defaults)
    assert.deepEqual(
      agreed(
        ' ; server_no_context_takeover;\tclient_no_context_takeover ; server_max_window_bits=8; client_max_window_bits="10"',
      ),
      {
        serverWindowBits: 8,
        serverNoContextTakeover: true,
        clientWindowBits: 10,
        clientNoContextTakeover: true,
      },
    )
    assert.deepEqual(agreed('; server_max_window_bits'), defaults)
    assert.deepEqual(agreed('; server_max_window_bits='), defaults)
    assert.deepEqual(agreed('; client_max_window_bits'), defaults)
  })

  it('server windows that cannot be are remembered, and fail when they are needed', () => {
    for (const bits of ['7', '16', '1000', '-1', '0x9', '09', '8.0', 'abc']) {
      assert.deepEqual(
        agreed(`; server_max_window_bits=${bits}`),
        { ...defaults, serverWindowBits: null },
        bits,
      )
    }
  })

  it('that are refused', () => {
    for (const value of [
      '; unknown',
      '; client_max_window_bits=7',
      '; client_max_window_bits=16',
      '; client_max_window_bits=',
      '; server_no_context_takeover=1',
      '; client_no_context_takeover=""',
      '; server_no_context_takeover; server_no_context_takeover',
    ]) {
      assert.equal(agreed(value), 'Invalid permessage-deflate parameters', value)
    }
  })

  it('the field is parsed strictly', () => {
    assert.deepEqual(parseExtensions('a; b="c\\"d,;" , e;f=g'), [
      { name: 'a', parameters: [['b', 'c"d,;']] },
      { name: 'e', parameters: [['f', 'g']] },
    ])
    for (const value of [
      '',
      ',',
      'a,',
      ';a',
      'a;',
      'a; =b',
      'a b',
      'a; b="c',
      'a; b="c\\',
      'a\u0100',
      '(a)',
    ]) {
      assert.equal(parseExtensions(value), null, value)
    }
  })
})

describe('names and codes', () => {
  it('subprotocols are tokens, and different ones', () => {
    assert.deepEqual(checkSubprotocols(['a', 'b.c', "!#$%&'*+-.^_`|~"]), ['a', 'b.c', "!#$%&'*+-.^_`|~"])
    assert.deepEqual(checkSubprotocols([]), [])
    for (const names of [[''], ['a', 'a'], ['a', 'A'], ['a b'], ['a,b'], ['\u00e9'], ['a\n']]) {
      assert.equal(checkSubprotocols(names), null)
    }
    for (const separator of '()<>@,;:\\"/[]?={} \t') assert.equal(checkSubprotocols([`a${separator}`]), null)
  })

  it('lists are split and trimmed', () => {
    assert.deepEqual(listItems(' a ,, b,'), ['a', 'b'])
  })

  it('close codes that may come', () => {
    const valid = [1000, 1001, 1002, 1003, 1007, 1008, 1011, 1014, 3000, 4999]
    for (const code of valid) assert.equal(isReceivable(code), true, String(code))
    for (const code of [0, 999, 1004, 1005, 1006, 1015, 2999, 5000]) {
      assert.equal(isReceivable(code), false, String(code))
    }
  })

  it('close codes that may be sent by an application', () => {
    for (const code of [1000, 3000, 4999]) assert.equal(isSendable(code), true)
    for (const code of [0, 999, 1001, 1011, 2999, 5000]) assert.equal(isSendable(code), false)
  })
})
