/** The names of headers are data: none of them meets a property that every object has. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SnapshotAgent } from '../../src/index.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const

/** Answers with the same names. */
async function start(t: TestContext): Promise<string> {
  const server = http.createServer((_request, response) => {
    response.writeHead(
      200,
      NAMES.flatMap((name) => [name, `of ${name}`]),
    )
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

for (const file of ['snapshots.json', 'snapshots.har']) {
  test(`headers with the names of properties come back from ${file}`, async (t) => {
    const origin = await start(t)
    const snapshotPath = join(scratchFolder(t), file)
    const headers = NAMES.flatMap((name) => [name, `sent ${name}`])
    const request = { origin, path: '/', method: 'GET', headers } as const
    const recording = new SnapshotAgent({ mode: 'record', snapshotPath })
    t.after(() => recording.destroy())
    await (await recording.request(request)).body.text()
    await recording.close()
    const text = readFileSync(snapshotPath, 'utf8')
    for (const name of NAMES) {
      assert.ok(text.includes(`sent ${name}`), name)
      assert.ok(text.includes(`of ${name}`), name)
    }
    const playing = new SnapshotAgent({ mode: 'playback', snapshotPath })
    t.after(() => playing.destroy())
    const response = await playing.request(request)
    assert.equal(await response.body.text(), 'ok')
    for (const name of NAMES) {
      const lower = name.toLowerCase()
      assert.equal(Object.getOwnPropertyDescriptor(response.headers, lower)?.value, `of ${name}`)
    }
    // Archives of browsers are compared without headers.
    if (file.endsWith('.har')) return
    const other = [...headers.slice(0, 3), 'something else', ...headers.slice(4)]
    await assert.rejects(playing.request({ ...request, headers: other }), /No snapshot found/)
  })
}
