/** Responses from the grammar of RFC 9112 and from the deviations of servers and attackers. */
import type { RequestShape } from './parser-outcome.ts'
import type { Random } from './random.ts'

export interface GeneratedResponse {
  readonly shape: RequestShape
  readonly bytes: Buffer
}

const SHAPES: readonly RequestShape[] = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'GET upgrade', 'CONNECT']

const STATUSES = [
  '200',
  '200',
  '200',
  '201',
  '204',
  '205',
  '301',
  '304',
  '404',
  '500',
  '599',
  '600',
  '999',
  '418',
]
const ODD_STATUSES = ['100', '101', '102', '103', '199', '099', '000', '20', '2000', '2O0', '-10', '']
const REASONS = [' OK', ' OK', ' ', '', ' Not Found', ' gr\xfc\xdf', '  two', ' a\tb', ' \x7f', ' \0', '\tx']
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0']
const ODD_VERSIONS = [
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'HTTP/11',
  'http/1.1',
  'HTTP/1',
  'HTTP/1.10',
  'ICE/1.0',
]
const FIELDS = [
  'Content-Type: text/plain',
  'x:1',
  'X-Empty:',
  'x-space:   around \t ',
  'x-latin: gr\xfc\xdf \xa0',
  'set-cookie: a=1',
  'set-cookie: b=2',
  'Connection: close',
  'connection: keep-alive',
  'connection: keep-alive, close',
  'keep-alive: timeout=5, max=100',
  'upgrade: x',
  'connection: upgrade',
  "!#$%&'*+-.^_`|~09: token",
  'date: Mon, 21 Oct 2013 20:13:21 GMT',
  'proxy-connection: close',
]
const ODD_FIELDS = [
  ' folded: 1',
  'a: 1\r\n continued',
  'space : before colon',
  ': no name',
  'no colon',
  'na(me: 1',
  'x: \0',
  'x: a\rb',
  'x: a\nb',
  'x: \x7f',
  'x: \x01',
  'n\xe4me: 1',
]
const LENGTHS = ['content-length: 5', 'Content-Length:5', 'content-length: 0', 'content-length: 3']
const ODD_LENGTHS = [
  'content-length: 5\r\ncontent-length: 5',
  'content-length: 5\r\ncontent-length: 6',
  'content-length: 5, 5',
  'content-length: +5',
  'content-length: -5',
  'content-length: 0x5',
  'content-length: 5 ',
  'content-length: 5 5',
  'content-length:',
  'content-length: 99999999999999999999',
  'content-length: 9007199254740993',
  'content-length: 005',
]
const CODINGS = [
  'transfer-encoding: chunked',
  'Transfer-Encoding: Chunked',
  'transfer-encoding: gzip, chunked',
]
const ODD_CODINGS = [
  'transfer-encoding: gzip',
  'transfer-encoding: chunked, gzip',
  'transfer-encoding: identity',
  'transfer-encoding:',
  'transfer-encoding: chunked, chunked',
  'transfer-encoding: chunked\r\ntransfer-encoding: chunked',
  'transfer-encoding: gzip\r\ntransfer-encoding: chunked',
  'transfer-encoding: xchunked',
  'transfer-encoding: chunkedx',
  'transfer-encoding: "chunked"',
  'transfer-encoding: chunked;q=1',
  'transfer-encoding: ,chunked',
  'transfer-encoding: chunked,',
  'transfer-encoding: chunked\r\ncontent-length: 5',
  'content-length: 5\r\ntransfer-encoding: chunked',
  'transfer-encoding : chunked',
  'transfer-encoding:\tchunked',
]
const EXTENSIONS = [
  '',
  '',
  '',
  ';a',
  ';a=1',
  ';a="b;c"',
  ';a="\\""',
  '; a=1',
  ';a = 1',
  ';',
  ';=1',
  ' ',
  ';a=\0',
]
const SIZES = ['5', '5', '5', '05', '0000005', 'g', '0x5', '-5', '+5', ' 5', '5 ', '', 'ffffffffffffffff']
const TRAILERS = [
  '',
  '',
  'x-t: 1\r\n',
  'X-T: 1\r\nx-t: 2\r\n',
  'content-length: 3\r\n',
  ' x: 1\r\n',
  'x\r\n',
  'x: 1\n',
]
const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n\r']
const LEADING = ['', '', '', '', '', '\r\n', '\r\n\r\n', '\n', '\r', ' ']

/** Mostly valid; mostly invalid input would not get far. */
function mostly(random: Random, right: readonly string[], odd: readonly string[]): string {
  return random.pick(random.oneIn(12) ? odd : right)
}

export function generateResponse(random: Random): GeneratedResponse {
  const shape = random.pick(SHAPES)
  const lines = [mostly(random, VERSIONS, ODD_VERSIONS)]
  lines[0] += random.oneIn(40) ? random.pick(['  ', '\t', '']) : ' '
  const switches = shape === 'GET upgrade' && random.oneIn(2)
  lines[0] += switches ? '101' : mostly(random, STATUSES, ODD_STATUSES)
  lines[0] += random.oneIn(20) ? random.pick(REASONS) : ' OK'
  if (switches) lines.push('connection: upgrade', 'upgrade: x')
  for (let count = random.small(4); count > 0; count--) lines.push(mostly(random, FIELDS, ODD_FIELDS))
  const framing = random.below(4)
  if (framing === 0) lines.push(mostly(random, LENGTHS, ODD_LENGTHS))
  if (framing === 1 || framing === 2) lines.push(mostly(random, CODINGS, ODD_CODINGS))
  for (let count = random.small(3); count > 0; count--) lines.push(mostly(random, FIELDS, ODD_FIELDS))
  const end = random.oneIn(30) ? random.pick(LINE_ENDS) : '\r\n'
  const body =
    framing === 1 || framing === 2 ? chunks(random) : random.pick(['hello', 'hello', 'hel', 'hello more', ''])
  const odd = random.below(lines.length + 1)
  const text = lines.map((line, i) => line + (i === odd ? end : '\r\n')).join('')
  const whole = `${random.pick(LEADING)}${interim(random)}${text}${odd === lines.length ? end : '\r\n'}${body}`
  return { shape, bytes: Buffer.from(whole, 'latin1') }
}

function interim(random: Random): string {
  if (!random.oneIn(8)) return ''
  const status = random.pick(['100', '102', '103', '103', '150'])
  return `HTTP/1.1 ${status} X\r\n${mostly(random, ['', 'link: x\r\n'], ['content-length: 0\r\n', 'content-length: 5\r\n', 'transfer-encoding: chunked\r\n'])}\r\n`
}

function chunks(random: Random): string {
  let text = ''
  for (let count = random.small(4); count > 0; count--) {
    const isOdd = random.oneIn(10)
    const size = isOdd ? random.pick(SIZES) : '5'
    const extension = random.oneIn(6) ? random.pick(EXTENSIONS) : ''
    const end = random.oneIn(40) ? random.pick(LINE_ENDS) : '\r\n'
    text += `${size}${extension}${end}hello${random.oneIn(40) ? random.pick(LINE_ENDS) : '\r\n'}`
  }
  if (random.oneIn(12)) return text
  const last = random.oneIn(12) ? random.pick(['00', '0 ', '0;a=1', '0;', '000']) : '0'
  return `${text}${last}\r\n${random.oneIn(3) ? random.pick(TRAILERS) : ''}${random.oneIn(30) ? random.pick(LINE_ENDS) : '\r\n'}${random.oneIn(12) ? 'more' : ''}`
}
