/** Cookie lines from the wire: set by a node:http server, sent back by our client. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'

const SET: readonly string[] = [
  'session=31d4d96e407aad42; Path=/; Secure; HttpOnly; SameSite=Lax',
  'id=a3fWa; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Secure; HttpOnly',
  'id=a3fWa; Max-Age=2592000; Domain=.example.test',
  'qwerty=219ffwef9w0f; Domain=somecompany.test; Path=/deep/path',
  '__Host-ID=123; Secure; Path=/',
  '__Secure-ID=123; Secure; Domain=example.test',
  'lu=Rg3vHJZnehYLjVg7qi3bZjzg; expires=Tue, 15-Jan-2013 21:47:38 GMT; path=/; domain=.foo.test; HttpOnly',
  'quoted="with spaces; and more"; SameSite=Strict; Partitioned; Priority=High',
  'empty=; Max-Age=0',
  'nothing',
  '=value without a name; path=x',
  'encoded=%7B%22a%22%3A1%7D%0d%0a; max-age=-1; samesite=NONE',
  'many=1; Path=/a; Path=/b; Secure; Secure; Max-Age=1; Max-Age=2; Expires=0',
]

const SENT: readonly string[] = [
  'a=1',
  'a=1; b=2; c=3',
  'session=31d4d96e407aad42; theme="dark"; empty=; nothing; a=b=c',
  '_ga=GA1.1.1990000000.1690000000; _gid=GA1.2.1; csrf=%3D%3D',
]

export async function recordCookies(): Promise<Recording[]> {
  const sent: string[] = []
  const server = http.createServer((request, response) => {
    if (request.headers.cookie !== undefined) sent.push(request.headers.cookie)
    response.setHeader('set-cookie', SET).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const lines: Recording[] = []
  for (const cookie of SENT) {
    const { headers, body } = await client.request({ path: '/', method: 'GET', headers: { cookie } })
    await body.dump()
    if (lines.length > 0) continue
    for (const [i, line] of [headers['set-cookie'] ?? []].flat().entries()) {
      lines.push({ name: `set-${i}`, context: 'set-cookie', bytes: Buffer.from(line, 'latin1') })
    }
  }
  await client.close()
  server.close()
  for (const [i, line] of sent.entries()) {
    lines.push({ name: `sent-${i}`, context: 'cookie', bytes: Buffer.from(line, 'latin1') })
  }
  return lines
}
