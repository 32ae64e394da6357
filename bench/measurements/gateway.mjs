// Requests per second through a gateway in this process, and for each the CPU time of this process and the memory
// allocated on its heap: node:http's server takes the requests, and the candidate sends them on. The clients are in a
// process of their own on the server's core (gateway-clients.mjs), where they and the origin use less than a core.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onServerCore } from '../cores.mjs'
import { meterCosts } from './costs.mjs'

const CLIENTS = fileURLToPath(new URL('../gateway-clients.mjs', import.meta.url))

export async function measure(job) {
  const { scenario, port, ports, library, seconds, warmup } = job
  const [file, name] = job.open
  const { [name]: open } = await import(new URL(`../candidates/${file}`, import.meta.url))
  const origin = `http://127.0.0.1:${port}`
  const { forward, close } = await open({ ...scenario, origin, library })

  let count = 0
  const finished = () => {
    count++
  }
  const server = http.createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    response.on('finish', finished)
    // The clients fail when a connection ends, and the run with them.
    forward(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const clients = startClients({ ...job, ports, port: server.address().port })
  await Promise.race([sleep(warmup * 1000), clients.failed])
  const before = count
  const costsOf = meterCosts()
  await Promise.race([sleep(seconds * 1000), clients.failed])
  const answered = count - before
  const costs = costsOf(answered)
  clients.stop()
  server.closeAllConnections()
  server.close()
  await close()
  if (answered === 0) throw new Error('not one request in the measured time')
  return costs
}

function startClients(job) {
  const [execPath, ...execArgv] = onServerCore([process.execPath])
  const child = fork(CLIENTS, [JSON.stringify(job)], { execPath, execArgv })
  let isStopped = false
  const failed = once(child, 'message').then(([message]) => {
    if (!isStopped) throw new Error(message)
  })
  // Only the races above look at it.
  failed.catch(() => {})
  return {
    failed,
    stop() {
      isStopped = true
      child.kill()
    },
  }
}
