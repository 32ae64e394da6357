import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotate } from './rotation.ts'

for (const protocol of ['h1', 'h2'] as const) {
  test(`certificates and authorities that change under load fail no request: ${protocol}`, async () => {
    const options = { protocol, milliseconds: 2000, perSecond: 500, every: 500, agent: { connections: 4 } }
    const { requests, failures, rotations, connections, seen } = await rotate(options)
    assert.deepEqual(failures, [])
    assert.ok(requests > 100, `only ${requests} requests`)
    assert.ok(rotations > 0 && connections > 1, `${connections} connections, ${rotations} rotations`)
    // Each certificate gets its turn when it was made; on a busy machine a handshake may take until the next one is.
    for (let i = 1; i < rotations; i++) {
      const isSeen = seen.some((name) => {
        const [turn, owner] = name.split(': ')
        return Number(turn) >= i && owner === `generation ${(i % 3) + 1}`
      })
      assert.ok(isSeen, seen.join())
    }
  })
}
