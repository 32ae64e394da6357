/**
 * One request and what came of it, as plain data that the report, the JSON result and the archive are made
 * from. A failure is data as well. Credentials are removed here; only `sent` has them.
 */
import { type Interceptor, interceptors, type RedirectContext } from '../index.ts'
import type { Dialer } from './dialer.ts'
import { deadline, type Failure, failureOf } from './failure.ts'
import { type Outgoing, requestOptions } from './message.ts'
import { phasesOf } from './phases.ts'
import { Receiver, type Reception } from './receiver.ts'
import { redact } from './secrets.ts'
import { type Hop, type Repeated, Wire } from './wire.ts'

export type Exchange = Readonly<Awaited<ReturnType<typeof exchange>>>

/** What is told while it runs. */
export interface Watching extends Reception {
  readonly onRedirect: (hop: Hop) => void
  readonly onRetry: (repeated: Repeated) => void
}

/** As many as `fetch` follows. */
const MOST_REDIRECTS = 20

/** Sends the request and receives the response. Never throws: an error is a `failure`. */
export async function exchange(dialer: Dialer, outgoing: Outgoing, watching: Watching) {
  const { url, method, headers, timeout } = outgoing
  const startedAt = new Date()
  const redirects: Hop[] = []
  const retries: Repeated[] = []
  const wire = new Wire(dialer, outgoing, {
    onRedirect: (hop) => watching.onRedirect(redirects[redirects.push(hop) - 1]!),
    onRetry: (repeated) => watching.onRetry(retries[retries.push(repeated) - 1]!),
  })
  const receiver = new Receiver(watching)
  const client = dialer.open(1)
  const limit = timeout && deadline(timeout, (error) => receiver.abort(error))
  let failure: Failure | null = null
  try {
    client
      .compose(...interceptorsFor(outgoing))
      .dispatch(requestOptions(outgoing) as Parameters<typeof client.dispatch>[0], receiver)
    await receiver.done
  } catch (error) {
    failure = failureOf(error, receiver.stage, dialer.isCleartextH2)
  }
  if (limit) limit.clear()
  wire.stop()
  const sent = wire.last?.fields ?? headers
  await (failure === null ? client.close() : client.destroy())
  dialer.end()
  const { context, early, response, timings } = receiver
  return {
    startedAt,
    // Without credentials; `sent` has them, for an archive that is to have everything.
    request: {
      ...outgoing,
      given: url,
      url: (context as RedirectContext | null)?.history.at(-1) ?? url,
      method: wire.last?.method ?? method,
      headers: sent.map(redact),
    },
    sent,
    redirects,
    retries,
    early,
    response,
    connection: dialer.connections.at(-1) ?? null,
    connections: dialer.connections.length,
    phases: timings && phasesOf(timings, dialer.dial),
    failure,
  }
}

function interceptorsFor({ retry, location, compressed, jar }: Outgoing): (Interceptor | null)[] {
  return [
    retry === 0 ? null : interceptors.retry({ maxRetries: retry, throwOnError: false }),
    jar === null ? null : interceptors.cookies({ jar }),
    compressed ? interceptors.decompress({ acceptEncoding: true, skipErrorResponses: false }) : null,
    location ? interceptors.redirect({ maxRedirections: MOST_REDIRECTS, throwOnMaxRedirect: true }) : null,
  ]
}
