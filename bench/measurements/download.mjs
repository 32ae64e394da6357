// Time of sequential large downloads over a long distance. The first one, which also connects, is not counted.
import { checkBody, checkProtocol, once, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  checkBody(await once(session, scenario.path), bytes)
  const begin = performance.now()
  for (let i = 0; i < scenario.downloads; i++) checkBody(await once(session, scenario.path), bytes)
  const ms = (performance.now() - begin) / scenario.downloads
  await session.close()
  return { ms, mbps: bytes / 1e6 / (ms / 1000) }
}
