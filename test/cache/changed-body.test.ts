import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Client, type DispatchController, interceptors } from '../../src/index.ts'
import { responseFacts } from '../../src/relay/response-facts.ts'

test('a body that was decoded before the cache counts as changed after it', async (t) => {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('text'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void server.close())
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(() => client.destroy())
  const composed = client.compose(interceptors.decompress(), interceptors.cache())
  const controller = await new Promise<DispatchController>((resolve, reject) => {
    composed.dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart: resolve,
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
  assert.equal(responseFacts(controller).isTransformed, true)
})
