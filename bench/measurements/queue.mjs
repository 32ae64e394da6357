// Whether a request costs more when more of them are queued: batches of 1,000 against one batch of 100,000, each
// issued at once, 100,000 requests in total.
import { checkBody, checkProtocol, openSession } from './session.mjs'

const TOTAL = 100_000
const FEW = 1000
const WARMUP_BATCHES = 20

export async function measure(job) {
  const { scenario, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  for (let i = 0; i < WARMUP_BATCHES; i++) await batch(session, scenario.path, bytes, FEW)
  const few = await timed(async () => {
    for (let i = 0; i < TOTAL / FEW; i++) await batch(session, scenario.path, bytes, FEW)
  })
  const many = await timed(() => batch(session, scenario.path, bytes, TOTAL))
  await session.close()
  return { many: many.time, few: few.time, growth: many.time / few.time, cpuGrowth: many.cpu / few.cpu }
}

async function timed(run) {
  globalThis.gc()
  const begin = performance.now()
  const cpu = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(cpu)
  return { time: ((performance.now() - begin) * 1000) / TOTAL, cpu: (user + system) / TOTAL }
}

function batch(session, path, bytes, size) {
  return new Promise((resolve, reject) => {
    let left = size
    const arrived = (text) => {
      try {
        checkBody(text, bytes)
      } catch (error) {
        reject(error)
      }
      if (--left === 0) resolve()
    }
    for (let i = 0; i < size; i++) {
      if (session.send !== undefined) session.send(path).then(arrived, reject)
      else session.start(path, (error, text) => (error ? reject(error) : arrived(text)))
    }
  })
}
