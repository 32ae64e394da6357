// One long event stream read by the EventSource of a library: events per second, CPU time of this process for each, and
// the memory in use, after a collection, early in the stream and late in it.
import { exported, loadLibrary } from '../candidates/dispatcher.mjs'

export async function measure({ scenario, port, library: folder }) {
  const EventSource = exported(await loadLibrary({ library: folder }), 'EventSource')
  const { events } = scenario
  const early = Math.floor(events / 10)
  const late = Math.floor((events * 9) / 10)
  const memory = {}
  let count = 0
  const source = new EventSource(`http://127.0.0.1:${port}${scenario.path}`)
  const start = { time: performance.now(), cpu: process.cpuUsage() }
  await new Promise((resolve) => {
    source.onmessage = () => {
      count++
      if (count === early || count === late) memory[count] = inUse()
    }
    source.onerror = resolve
  })
  const seconds = (performance.now() - start.time) / 1000
  const { user, system } = process.cpuUsage(start.cpu)
  source.close()
  if (count !== events) throw new Error(`${count} events where ${events} were expected`)
  const [first, last] = [memory[early], memory[late]]
  return { eps: count / seconds, cpu: (user + system) / count, first, last, growth: last / first }
}

/** KB. */
function inUse() {
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1024
}
