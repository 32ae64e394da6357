/** Operators that stop early: a body of which all is there ends quietly. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Client } from '../../src/index.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

for (const [name, response, events] of [
  ['a length', 'content-length: 3\r\n\r\nabc', ['end']],
  ['chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', ['end']],
] as const) {
  test(`take(1) of a body of one piece: ${name}`, async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send(`HTTP/1.1 200 OK\r\n${response}`)
    const { body } = await asked
    const seen: string[] = []
    body.on('end', () => seen.push('end'))
    body.on('error', (error) => seen.push(error.name))
    const closed = once(body, 'close').catch(() => once(body, 'close'))
    assert.deepEqual(await body.take(1).toArray(), [Buffer.from('abc')])
    await closed
    assert.deepEqual(seen, events)
  })
}
