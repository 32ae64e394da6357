/** Operators that stop early: a body of which all is there ends quietly. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Client, type Dispatcher } from '../../src/index.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

for (const [name, response] of [
  ['a length', 'content-length: 3\r\n\r\nabc'],
  ['chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
] as const) {
  test(`take(1) of a body of one piece: ${name}`, async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send(`HTTP/1.1 200 OK\r\n${response}`)
    assert.deepEqual(await takeOne((await asked).body), ['end'])
  })
}

for (const isSeparate of [false, true]) {
  test(`take(1) of a body of one piece: HTTP/2, the end in a frame of its own: ${isSeparate}`, async (t) => {
    const { client, server } = await startH2Pair(t)
    const asked = client.request({ path: '/', method: 'GET' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => {
      peer.head(id, 200).data(id, 'abc', !isSeparate)
      if (isSeparate) peer.data(id, '', true)
    })
    assert.deepEqual(await takeOne((await asked).body), ['end'])
  })
}

/** Returns the events before `close`. */
async function takeOne(body: Dispatcher.ResponseData['body']): Promise<string[]> {
  const seen: string[] = []
  body.on('end', () => seen.push('end'))
  body.on('error', (error) => seen.push(error.name))
  const closed = once(body, 'close').catch(() => once(body, 'close'))
  assert.deepEqual(await body.take(1).toArray(), [Buffer.from('abc')])
  await closed
  return seen
}
