/** One process of a fleet: sends requests until its circuit is open, and tells when it was. */
import { setTimeout as wait } from 'node:timers/promises'
import { Agent, errors, interceptors } from '../../src/index.ts'
import { TestRedisClient } from '../support/redis-server.ts'

const [url, port] = process.argv.slice(2) as [string, string]
const store = { client: new TestRedisClient(Number(port)) }
const agent = new Agent().compose(interceptors.circuitBreaker({ store }))

process.on('disconnect', () => process.exit())
process.send!('ready')
for (;;) {
  try {
    const { body } = await agent.request({ origin: url, path: `/${process.pid}`, method: 'GET' })
    await body.dump()
  } catch (error) {
    if (!(error instanceof errors.CircuitOpenError)) throw error
    process.send!(Date.now())
    break
  }
  await wait(2)
}
