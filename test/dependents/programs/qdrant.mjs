import assert from 'node:assert/strict'
import { QdrantClient } from '#@qdrant/js-client-rest'
import { failure, json, sendJson } from '../support.mjs'

const answer = (response, result, status = 200) =>
  sendJson(response, { result, status: 'ok', time: 0 }, status)
const connect = (at, options = {}) => new QdrantClient({ url: at, checkCompatibility: false, ...options })

export default {
  package: '@qdrant/js-client-rest',
  about: 'its own Agent under the fetch of the runtime',
  checks: {
    'lists collections': async (t) => {
      const at = await t.serve((_, response) => answer(response, { collections: [{ name: 'c' }] }))
      assert.deepEqual(await connect(at).getCollections(), { collections: [{ name: 'c' }] })
    },
    'searches with a vector': async (t) => {
      const at = await t.serve(async (request, response) => {
        const { query, limit } = await json(request)
        answer(response, { points: Array.from({ length: limit }, (_, id) => ({ id, score: query[0] })) })
      })
      const { points } = await connect(at).query('c', { query: [0.5, 0.25], limit: 3 })
      assert.deepEqual(
        points.map(({ id, score }) => [id, score]),
        [
          [0, 0.5],
          [1, 0.5],
          [2, 0.5],
        ],
      )
    },
    'inserts many points': async (t) => {
      const at = await t.serve(async (request, response) => {
        const { points } = await json(request)
        answer(response, { operation_id: points.length, status: 'completed' })
      })
      const points = Array.from({ length: 500 }, (_, id) => ({
        id,
        vector: Array(64).fill(0.1),
        payload: { id },
      }))
      assert.equal((await connect(at).upsert('c', { wait: true, points })).operation_id, 500)
    },
    'sends its key': async (t) => {
      const at = await t.serve((request, response) =>
        answer(response, { collections: [{ name: request.headers['api-key'] }] }),
      )
      assert.equal((await connect(at, { apiKey: 'k' }).getCollections()).collections[0].name, 'k')
    },
    'throws what the server says': async (t) => {
      const at = await t.serve((_, response) => sendJson(response, { status: { error: 'Not found' } }, 404))
      const error = await failure(connect(at).getCollection('c'))
      assert.equal(error.status, 404)
      assert.equal(error.data.status.error, 'Not found')
    },
    'times out': async (t) => {
      const at = await t.serve((request) => request.resume())
      await failure(connect(at, { timeout: 100 }).getCollections())
    },
    'bounds its connections': async (t) => {
      const sockets = new Set()
      const at = await t.serve((request, response) => {
        sockets.add(request.socket)
        setImmediate(answer, response, { collections: [] })
      })
      const client = connect(at, { maxConnections: 2 })
      await Promise.all(Array.from({ length: 20 }, () => client.getCollections()))
      assert.ok(sockets.size <= 2, `${sockets.size} connections`)
    },
    'fails where nothing listens': async (t) => {
      const error = await failure(connect(await t.nowhere()).getCollections())
      assert.equal(error.cause?.code ?? error.code, 'ECONNREFUSED')
    },
  },
}
