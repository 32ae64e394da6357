/** Discards a body: its limit, the wait for the end, and emptying a running stream. */
import type { Readable } from 'node:stream'
import { AbortLink } from '../base/abort/abort-link.ts'
import { destroyQuietly } from '../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../base/loop/timer.ts'
import { AbortError, InvalidArgumentError } from '../errors.ts'
import { MAX_DISCARDING_TIME } from '../relay/discarded-body.ts'

/** Options of `dump()`. */
export interface DumpOptions {
  /** Bytes to read at most; with more, the body is destroyed. Default: 131072. */
  limit?: number | undefined
  /** Ends the wait, and rejects with its reason. */
  signal?: AbortSignal | null | undefined
}

/** Bytes that `dump()` reads to save the connection; beyond, a new connection is cheaper. */
const DEFAULT_DUMP_LIMIT = 131_072

export function dumpLimit(opts: DumpOptions | undefined): number {
  return Number.isFinite(opts?.limit) && opts?.limit ? opts.limit : DEFAULT_DUMP_LIMIT
}

/** The signal of a dump. Throws if it is no signal, and its reason if it is aborted. */
export function dumpSignal(opts: DumpOptions | undefined): AbortSignal | null {
  const signal = opts?.signal ?? null
  if (signal !== null && (typeof signal !== 'object' || !('aborted' in signal))) {
    throw new InvalidArgumentError('signal must be an AbortSignal')
  }
  if (signal?.aborted) throw signal.reason ?? new AbortError()
  return signal
}

/**
 * Discards a body with `start` and resolves when it is closed. The signal or the time limit may destroy it
 * earlier.
 */
export function dumped(
  body: Readable,
  signal: AbortSignal | null,
  isTimed: boolean,
  start: () => boolean,
): Promise<null> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | null = null
    let link: AbortLink | null = null
    let abortion: { readonly reason: unknown } | null = null
    body.once('close', () => {
      if (timer !== null) clearTimer(timer)
      link?.end()
      if (abortion === null) resolve(null)
      else reject(abortion.reason)
    })
    const onAbort = (reason: unknown): void => {
      abortion = { reason: reason ?? new AbortError() }
      destroyQuietly(body, abortion.reason)
    }
    if (signal !== null) link = AbortLink.to(signal, { onAbort })
    if (abortion !== null) return
    // A body that somebody else reads has no time limit.
    if (!start() || !isTimed) return
    timer = startTimer(() => body.destroy(new AbortError()), MAX_DISCARDING_TIME)
    timer.unref?.()
  })
}

/** Empties a stream, or destroys it once it has yielded more than the limit. */
export function emptyStream(stream: Readable, limit: number): void {
  let room = limit
  stream.on('data', (chunk: Buffer | string) => {
    room -=
      typeof chunk === 'string' ? Buffer.byteLength(chunk, stream.readableEncoding ?? 'utf8') : chunk.length
    if (room < 0) stream.destroy(new AbortError())
  })
  stream.resume()
}
