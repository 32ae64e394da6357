// Certificates of client, server and authority change every second under 500 requests/s for 30 s, over both protocols:
// `npm run test:rotation -- [--seconds 30]`. Fails if a request does.
import { parseArgs } from 'node:util'
import { rotate } from '../test/load/rotation.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } })

for (const protocol of ['h1', 'h2'] as const) {
  const { requests, failures, rotations, connections } = await rotate({
    protocol,
    milliseconds: Number(values.seconds) * 1000,
    perSecond: 500,
    every: 1000,
    agent: { connections: 10 },
  })
  console.log(
    `${protocol}: ${requests} requests, ${rotations} rotations, ${connections} connections, ${failures.length} failed`,
  )
  for (const failure of new Set(failures)) console.error(failure)
  if (failures.length > 0) process.exitCode = 1
}
