/** The scenarios of `scripts/load.ts`, smaller. Counts, settlement and leaks are tested; times are only displayed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { notInPackage } from '../support/tested-build.ts'
import { LocalOrigin } from './origin.ts'
import {
  type Figures,
  manyConnections,
  manyStreams,
  outage,
  silentServer,
  slowConsumers,
} from './scenarios.ts'
import { handles, handlesBackTo, withLoopDelay } from './watch.ts'

async function watched(t: TestContext, run: (origin: LocalOrigin) => Promise<Figures>): Promise<void> {
  const before = handles()
  const origin = await LocalOrigin.start()
  try {
    const { result, delay } = await withLoopDelay(() => run(origin))
    const figures = Object.entries(result).map(([name, text]) => `${name}: ${text}`)
    t.diagnostic(`${figures.join(', ')}, event loop delay at most ${delay.max.toFixed(0)} ms`)
  } finally {
    await origin.stop()
  }
  await handlesBackTo(before)
}

describe('load', () => {
  it('many HTTP/1.1 connections', (t) => watched(t, (origin) => manyConnections(origin, 200)))

  it('many HTTP/2 streams', (t) => watched(t, (origin) => manyStreams(origin, 4, 250)))

  const skip = notInPackage('the windows of HTTP/2 must not grow')
  it('slow consumers', { skip }, (t) => watched(t, (origin) => slowConsumers(origin, 4)))

  it('a silent server', (t) => watched(t, (origin) => silentServer(origin, 50, 200)))

  it('an origin that goes and comes back', async (t) => {
    // Unix sockets: another process could have taken a port by the time the origin restarts.
    const folder = await mkdtemp(join(tmpdir(), 'load-'))
    const places = ['h1', 'h2'].map((name) =>
      process.platform === 'win32'
        ? `\\\\.\\pipe\\${folder.replaceAll(/\W/g, '-')}-${name}`
        : join(folder, name),
    ) as [string, string]
    let origin = await LocalOrigin.start(places)
    const before = handles()
    try {
      const { result } = await withLoopDelay(() =>
        outage(
          {
            origin,
            socketPaths: places,
            down: () => origin.stop(),
            up: async () => {
              origin = await LocalOrigin.start(places)
            },
          },
          10,
        ),
      )
      t.diagnostic(JSON.stringify(result))
      await handlesBackTo(before)
    } finally {
      await origin.stop()
      await rm(folder, { recursive: true })
    }
  })
})
