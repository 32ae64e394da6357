/** One process of a fleet: sends as many requests as its throttle lets through, until it is stopped. */
import { Agent, interceptors } from '../../src/index.ts'
import { TestRedisClient } from '../support/redis-server.ts'

const [url, port, rate] = process.argv.slice(2) as [string, string, string]
const client = new TestRedisClient(Number(port))
const agent = new Agent({ connections: 8 }).compose(
  interceptors.throttle({ rate: Number(rate), store: { client } }),
)

async function send(): Promise<void> {
  for (;;) {
    const { body } = await agent.request({ origin: url, path: `/${process.pid}`, method: 'GET' })
    await body.dump()
  }
}

process.on('disconnect', () => process.exit())
process.on('message', () => process.send!({ commands: client.commands }))
process.send!('ready')
for (let i = 0; i < 100; i++) void send().catch(() => process.exit(1))
