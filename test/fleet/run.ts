/** `npm run test:fleet`: four processes with one Redis keep one limit and one circuit, whatever happens to them. */
import assert from 'node:assert/strict'
import { noRedis } from '../support/redis-server.ts'
import { type Incident, runBreakers, runFleet, sum } from './fleet.ts'

const SECONDS = Number(process.env['VENTUNO_FLEET_SECONDS'] ?? 20)
const RATE = 200

const SCENES: Record<string, readonly (readonly [at: number, incident: Incident])[]> = {
  'nothing happens': [],
  'one process is killed': [[SECONDS * 300, ([first]) => first!.kill('SIGKILL')]],
  'the store hangs for five seconds': [
    [SECONDS * 300, (_members, store) => store.process.kill('SIGSTOP')],
    [SECONDS * 300 + 5000, (_members, store) => store.process.kill('SIGCONT')],
  ],
}

if (noRedis) {
  console.log(`skipped: ${noRedis}`)
  process.exit()
}

const delays = await runBreakers(4)
console.log(`a circuit that opens in one process is open in the others after ${delays.join(', ')} ms`)
assert.ok(Math.max(...delays) <= 200)

for (const [name, incidents] of Object.entries(SCENES)) {
  const { counts, asked } = await runFleet(4, RATE, SECONDS * 1000, incidents)
  const rate = sum(counts) / SECONDS
  const seconds = Array.from({ length: SECONDS }, (_, i) => sum(counts.slice(i * 10, i * 10 + 10)))
  console.log(`${name}: ${rate} per second, ${asked.toFixed(1)} questions per second and process`)
  console.log(`  in each second: ${seconds.join(' ')}`)
  assert.ok(rate >= 190 && rate <= 201, `${rate} per second`)
  assert.ok(asked <= 10, `${asked} questions per second`)
}
