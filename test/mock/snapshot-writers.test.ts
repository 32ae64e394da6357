/** Files of snapshots are replaced as a whole, whoever else writes them. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SnapshotAgent } from '../../src/index.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const SNAPSHOT = {
  hash: 'x',
  snapshot: {
    request: { method: 'GET', url: 'http://a.test/', headers: {}, body: '' },
    responses: [{ statusCode: 200, headers: {}, body: '', trailers: {} }],
    callCount: 0,
    timestamp: new Date(0).toISOString(),
  },
}

test('several agents save one path at the same time', async (t) => {
  const folder = scratchFolder(t)
  const snapshotPath = join(folder, 'snapshots.json')
  const agents = Array.from({ length: 8 }, () => new SnapshotAgent({ mode: 'record', snapshotPath }))
  t.after(() => Promise.all(agents.map((agent) => agent.destroy())))
  for (const agent of agents) agent.replaceSnapshots([SNAPSHOT])
  for (let i = 0; i < 5; i++) await Promise.all(agents.map((agent) => agent.saveSnapshots()))
  assert.equal(JSON.parse(readFileSync(snapshotPath, 'utf8')).length, 1)
  assert.deepEqual(readdirSync(folder), ['snapshots.json'])
})

test('a symbolic link stays one, and permissions stay', async (t) => {
  const folder = scratchFolder(t)
  mkdirSync(join(folder, 'elsewhere'))
  const real = join(folder, 'elsewhere', 'real.json')
  const snapshotPath = join(folder, 'link.json')
  writeFileSync(real, '[]')
  chmodSync(real, 0o600)
  symlinkSync(real, snapshotPath)
  const agent = new SnapshotAgent({ mode: 'record', snapshotPath })
  t.after(() => agent.destroy())
  agent.replaceSnapshots([SNAPSHOT])
  await agent.saveSnapshots()
  assert.ok(lstatSync(snapshotPath).isSymbolicLink())
  assert.equal(JSON.parse(readFileSync(real, 'utf8')).length, 1)
  assert.equal(statSync(real).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(folder, 'elsewhere')), ['real.json'])
})

test('a link to nothing yet gets its file', async (t) => {
  const folder = scratchFolder(t)
  const snapshotPath = join(folder, 'link.json')
  symlinkSync('real.json', snapshotPath)
  const agent = new SnapshotAgent({ mode: 'record', snapshotPath })
  t.after(() => agent.destroy())
  agent.replaceSnapshots([SNAPSHOT])
  await agent.saveSnapshots()
  assert.ok(lstatSync(snapshotPath).isSymbolicLink())
  assert.equal(JSON.parse(readFileSync(join(folder, 'real.json'), 'utf8')).length, 1)
})
