// Header fields as clients and servers send them, flat: name, value, name, value …
export const REQUEST = [
  ':method',
  'GET',
  ':scheme',
  'https',
  ':authority',
  'api.example.test',
  ':path',
  '/v1/items?page=2',
  'user-agent',
  'bench',
  'accept',
  '*/*',
]

export const RESPONSE = [
  ':status',
  '200',
  'server',
  'nginx',
  'date',
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'content-type',
  'application/json; charset=utf-8',
  'content-length',
  '1024',
  'cache-control',
  'private, max-age=0, must-revalidate',
  'etag',
  '"33a64df551425fcc55e4d42a148795d9f25f89d4"',
  'vary',
  'accept-encoding',
]

const SMALL_HEAD = [
  'Server: nginx',
  'Date: Sun, 06 Nov 1994 08:49:37 GMT',
  'Content-Type: text/plain',
  'Content-Length: 13',
  'Connection: keep-alive',
]
const MORE = Array.from({ length: 15 }, (_, i) => `X-Field-${i}: some value of usual length, number ${i}`)

export const SMALL_RESPONSE = `HTTP/1.1 200 OK\r\n${SMALL_HEAD.join('\r\n')}\r\n\r\nHello, world!`
export const LARGE_HEAD_RESPONSE = `HTTP/1.1 200 OK\r\n${[...SMALL_HEAD, ...MORE].join('\r\n')}\r\n\r\nHello, world!`
export const CHUNKED_RESPONSE = `HTTP/1.1 200 OK\r\nServer: nginx\r\nTransfer-Encoding: chunked\r\n\r\n${`400\r\n${'x'.repeat(1024)}\r\n`.repeat(4)}0\r\n\r\n`

export const FLAT_20 = [...SMALL_HEAD, ...MORE].flatMap((line) => line.split(': '))
export const FLAT_5 = SMALL_HEAD.flatMap((line) => line.split(': '))
