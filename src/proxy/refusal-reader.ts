/**
 * The content of a refused CONNECT, read from the socket that came with the response. Its beginning is for
 * the error. If all of it arrives, another CONNECT may be sent on the connection. Length and time are
 * limited: a proxy chooses both.
 */
import type { Duplex } from 'node:stream'
import { ignoreError } from '../base/error/ignore-error.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { DiscardedBody } from '../relay/discarded-body.ts'
import type { Head } from '../relay/response-source.ts'
import { KEPT_BYTES } from './proxy-error.ts'

/** Called once. `isReusable`: all of the content was read, and another request may follow. */
export type OnRefusal = (body: Buffer, isReusable: boolean) => void

/** The content in what has come so far, and where it ends; null if the end is missing or invalid. */
type Unframed = { readonly content: Buffer; readonly end: number | null }

export function readRefusal(socket: Duplex, { statusCode, headers }: Head, done: OnRefusal): void {
  const unframe = unframing(statusCode, headers)
  const isLast = /\bclose\b/i.test(`${headers['connection'] ?? ''},${headers['proxy-connection'] ?? ''}`)
  let bytes: Buffer = Buffer.alloc(0)
  let isOver = false
  const finish = (): void => {
    if (isOver) return
    isOver = true
    limits.stop()
    socket.off('data', onData).off('end', finish).off('close', finish)
    socket.pause()
    const { content, end } = unframe(bytes)
    const isReusable = end === bytes.length && !isLast && !socket.destroyed
    done(content.subarray(0, Math.min(KEPT_BYTES, end ?? KEPT_BYTES)), isReusable)
  }
  const limits = new DiscardedBody(finish)
  const onData = (more: Buffer): void => {
    bytes = Buffer.concat([bytes, more])
    if (unframe(bytes).end !== null) finish()
    else limits.take(more.length)
  }
  socket.on('error', ignoreError)
  if (unframe(bytes).end !== null) {
    finish()
    return
  }
  // Without the announced length: the beginning is wanted in any case.
  limits.begin(null, true)
  socket.on('data', onData).on('end', finish).on('close', finish)
  if (socket.destroyed || socket.readableEnded) finish()
}

/** RFC 9112 §6.3. Without a length or chunks, it ends when the connection does. */
function unframing(statusCode: number, headers: HeaderObject): (bytes: Buffer) => Unframed {
  const isEmpty = statusCode === 204 || statusCode === 304
  if (!isEmpty && headers['transfer-encoding'] !== undefined) return unchunked
  const length = isEmpty ? '0' : headers['content-length']
  const size = typeof length === 'string' && /^\d+$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY
  return (content) => ({ content, end: content.length >= size ? size : null })
}

const SIZE_LINE = /^([0-9a-f]{1,8})[^\r\n]*\r?\n/i

/** Ends after the last chunk and its empty line. */
function unchunked(bytes: Buffer): Unframed {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = SIZE_LINE.exec(bytes.toString('latin1', at, at + 256))
    if (line === null) return { content: Buffer.concat(parts), end: null }
    const size = Number.parseInt(line[1]!, 16)
    const start = at + line[0].length
    const isTrailerless = bytes.toString('latin1', start, start + 2) === '\r\n'
    if (size === 0) return { content: Buffer.concat(parts), end: isTrailerless ? start + 2 : null }
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
