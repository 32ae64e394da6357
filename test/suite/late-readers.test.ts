/** A response that is read late, when its server has already closed the connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { connectionsOf } from '../../src/dispatcher/connection-snapshot.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

overEachWire('a body that is read after the connection was closed', (wire) => {
  for (const size of [65_536, 65_537, 70_000, 200_000]) {
    test(`${size} bytes: it is complete`, async (t) => {
      let isClosed = false
      const origin = await startOrigin(t, wire, (_request, response) => {
        if (response.req.httpVersion === '1.1') response.setHeader('connection', 'close')
        response.on('close', () => {
          isClosed = true
        })
        response.end(Buffer.alloc(size, 'x'))
      })
      const client = origin.client()
      const { body } = await client.request({ path: '/', method: 'GET' })
      for (let i = 0; i < 10_000 && !isClosed; i++) await immediate()
      for (let i = 0; i < 50; i++) await immediate()
      assert.equal((await body.text()).length, size)
      await client.close()
      assert.deepEqual(connectionsOf(client), [])
    })
  }
})
