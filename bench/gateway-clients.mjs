// The clients of a gateway: bare sockets that send real traffic and check each response, until this process is killed.
import { Lanes } from './measurements/lanes.mjs'
import { openSession } from './measurements/session.mjs'

process.on('disconnect', () => process.exit())
// The bare sockets throw what they do not understand.
process.on('uncaughtException', fail)

const job = JSON.parse(process.argv[2])
const session = await openSession({ ...job, open: ['floor-http1.mjs', 'open'], library: null })
new Lanes(session, job.scenario.path, job.bytes).run(job.scenario.connections).catch(fail)

function fail(error) {
  process.send(`the clients of the gateway: ${error.message}`)
}
