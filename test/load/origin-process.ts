/** The origin as a process: `origin-process.ts <h1 port> <h2 port>`, then commands from the parent. */
import { LocalOrigin } from './origin.ts'

const [h1 = '0', h2 = '0'] = process.argv.slice(2)
const origin = await LocalOrigin.start([Number(h1), Number(h2)])
process.on('message', async (order) => {
  process.send!(await (order === 'release' ? origin.release() : origin.state()))
})
// The parent has ended, so this process is no longer needed.
process.on('disconnect', () => process.exit())
process.send!(origin.ports)
