import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotate } from './rotation.ts'

for (const protocol of ['h1', 'h2'] as const) {
  test(`certificates and authorities that change under load fail no request: ${protocol}`, async () => {
    const options = { protocol, milliseconds: 1500, perSecond: 500, every: 300, agent: { connections: 4 } }
    const { requests, failures, rotations, connections, seen } = await rotate(options)
    assert.deepEqual(failures, [])
    assert.ok(requests > 100, `only ${requests} requests`)
    assert.ok(rotations > 0 && connections >= rotations, `${connections} connections, ${rotations} rotations`)
    // Each certificate got its turn right after it was made.
    for (let i = 1; i < rotations; i++)
      assert.ok(seen.includes(`${i}: generation ${(i % 3) + 1}`), seen.join())
  })
}
