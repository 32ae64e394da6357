/** A server with a thread of its own, so that it works while the thread of the client is blocked. */
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'

/**
 * `source` gets the memory of `flags` as `workerData`, on which both sides can wait for each other. `said` is its first
 * message, such as its port.
 */
export async function startServerThread<T>(
  t: TestContext,
  source: string,
): Promise<{ worker: Worker; flags: Int32Array; said: T }> {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const worker = new Worker(source, { eval: true, workerData: shared })
  t.after(() => worker.terminate())
  const [said] = (await once(worker, 'message')) as [T]
  return { worker, flags: new Int32Array(shared), said }
}
