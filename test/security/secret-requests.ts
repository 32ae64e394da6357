/**
 * Runs in a separate process: sends requests that carry secrets, most of which fail, and prints everything that a program
 * could log about them.
 */
import net from 'node:net'
import { inspect } from 'node:util'
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  fetch,
  H2CClient,
  Pool,
  request,
  WebSocket,
} from '../../src/index.ts'

/** Encoded as Basic credentials it reads `c3RlcGhhbmllOnMzY3IzdA==`. */
const USER = 'stephanie'
const PASSWORD = 's3cr3t'
const TOKEN = 'Basic c3RlcGhhbmllOnMzY3IzdA=='
const SECRET_HEADERS = {
  authorization: TOKEN,
  cookie: `sid=${PASSWORD}`,
  'proxy-authorization': TOKEN,
  'x-api-key': PASSWORD,
}
const USERINFO = `${USER}:${PASSWORD}@`

const said: string[] = []

/** Prints a value in all the usual ways. */
function printed(value: unknown): void {
  said.push(inspect(value, { depth: 10 }), String(value))
  said.push(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? '',
  )
  if (value instanceof Error) said.push(value.message, value.stack ?? '', inspect(value.cause, { depth: 10 }))
}

async function failing(ask: () => Promise<unknown>): Promise<void> {
  try {
    const value = await ask()
    said.push(`succeeded: ${inspect(value, { depth: 3 })}`)
  } catch (error) {
    printed(error)
  }
}

/** Answers with these bytes, or closes. */
async function serving(answer: string | null): Promise<{ port: number; close(): void }> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => (answer === null ? socket.destroy() : socket.end(answer)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as net.AddressInfo).port, close: () => server.close() }
}

const servers = [
  await serving(null),
  await serving('HTTP/1.1 200 OK\r\nbad field\r\n\r\n'),
  await serving('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort'),
  await serving('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'),
]
// There is no listener any more.
const closed = await serving(null)
closed.close()

for (const { port } of [...servers, closed]) {
  const url = `http://${USERINFO}127.0.0.1:${port}`
  const clients: Dispatcher[] = [
    new Client(url),
    new H2CClient(url),
    new Pool(url, { connections: 1 }),
    new BalancedPool(url),
    new Agent(),
  ]
  for (const client of clients) {
    client.on('error', printed)
    for (const event of ['disconnect', 'connectionError']) {
      // The URL is the caller's; the error is ours.
      client.on(event, (_url: URL, _targets: unknown, error: Error) => printed(error))
    }
    const common = { origin: url, headers: SECRET_HEADERS }
    const full = `http://${USERINFO}elsewhere.test/path?key=${PASSWORD}#${PASSWORD}`
    await failing(async () =>
      (await client.request({ ...common, path: `/path?key=${PASSWORD}`, method: 'GET' })).body.text(),
    )
    await failing(async () =>
      (await client.request({ ...common, path: full, method: 'POST', body: PASSWORD })).body.text(),
    )
    await failing(async () => {
      const { statusCode, socket } = await client.connect({ ...common, path: `${USERINFO}target.test:443` })
      socket.on('error', printed).destroy()
      return statusCode
    })
    await failing(() => client.upgrade({ ...common, path: `/path?key=${PASSWORD}` }))
    await failing(() =>
      client.request({ ...common, path: '/', method: 'GET', headers: { 'x-api-key': `${PASSWORD}\r\n` } }),
    )
    await failing(() => client.request({ ...common, path: ` ${PASSWORD}`, method: 'GET' }))
    printed(client)
    printed((client as Client).stats)
    await client.destroy()
  }
  const dispatcher = new Agent()
  await failing(async () =>
    (await request(`${url}/path?key=${PASSWORD}`, { dispatcher, headers: SECRET_HEADERS })).body.text(),
  )
  await failing(async () => {
    const url = `http://127.0.0.1:${port}/path?key=${PASSWORD}`
    return (await fetch(url, { dispatcher, headers: SECRET_HEADERS })).text()
  })
  await failing(
    () =>
      new Promise((_, reject) => {
        const socket = new WebSocket(`ws://${USERINFO}127.0.0.1:${port}/`, {
          dispatcher,
          headers: SECRET_HEADERS,
        })
        socket.addEventListener('error', ({ error, message }) => {
          said.push(message)
          reject(error)
        })
      }),
  )
  await dispatcher.destroy()
}
for (const server of servers) server.close()
console.log(JSON.stringify(said))
