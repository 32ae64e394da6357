/** Editors and exports of Windows write a byte order mark, which JSON does not know. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CookieJar, SnapshotAgent } from '../../src/index.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { startOrigin, WIRES } from '../support/wire.ts'

for (const file of ['snapshots.json', 'snapshots.har']) {
  test(`${file} with a byte order mark is read`, async (t) => {
    const { url } = await startOrigin(t, WIRES[0]!, (_request, response) => void response.end('recorded'))
    const snapshotPath = join(scratchFolder(t), file)
    const request = { origin: url, path: '/', method: 'GET' } as const
    const recording = new SnapshotAgent({ mode: 'record', snapshotPath })
    t.after(() => recording.destroy())
    await (await recording.request(request)).body.text()
    await recording.close()
    writeFileSync(snapshotPath, `\ufeff${readFileSync(snapshotPath, 'utf8')}`)
    const playing = new SnapshotAgent({ mode: 'playback', snapshotPath })
    t.after(() => playing.destroy())
    assert.equal(await (await playing.request(request)).body.text(), 'recorded')
  })
}

test('the JSON of a jar with a byte order mark is read', () => {
  const jar = new CookieJar()
  jar.setCookie('a=1; Max-Age=3600', 'https://example.com/')
  const copy = CookieJar.fromJSON(`\ufeff${JSON.stringify(jar)}`)
  assert.equal(copy.getCookieHeader('https://example.com/'), 'a=1')
})
