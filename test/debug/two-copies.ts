/** Runs in a separate process: two copies of the package, as two dependencies may install them. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as first from '../../src/index.ts'
import { copyUrl } from '../support/sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'ventuno-'))
try {
  const entry = fileURLToPath(copyUrl('src/index.ts', 'second'))
  cpSync(dirname(entry), join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const second = (await import(pathToFileURL(join(folder, 'src', basename(entry))).href)) as typeof first
  if (second.Client === first.Client) throw new Error('these are not two copies')

  const server = http.createServer((request, response) => response.end(request.url!.slice(1)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const clients = [first, second].map(({ Client }) => new Client(`http://localhost:${port}`))
  const answers: string[] = []
  for (const [index, client] of clients.entries()) {
    const path = index === 0 ? '/first' : '/second'
    const { body } = await client.request({ path, method: 'GET' })
    answers.push(await body.text())
    await client.close()
  }
  process.stdout.write(JSON.stringify({ pid: process.pid, ports: { server: port }, answers }))
  server.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
