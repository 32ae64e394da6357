/** A mocked response as HTTP/1.1 bytes, in steps. */
import type { HeaderBlock } from '../../protocol/header-block.ts'
import { isBodiless, type MockedResponse } from './reply.ts'
import { contentPieces } from './reply-content.ts'
import { statusText } from './status-text.ts'

export async function* responseText(
  { statusCode, fields, trailers, informational, content }: MockedResponse,
  method: string,
): AsyncGenerator<string | Uint8Array> {
  for (const head of informational) yield headText(head.statusCode, head.fields, '')
  const isStreamed = !Buffer.isBuffer(content)
  const { 'content-length': length, 'transfer-encoding': coding } = fields.toObject()
  const isFramed = length !== undefined || coding !== undefined
  const isChunked = coding !== undefined || (!isFramed && (isStreamed || trailers.flat.length > 0))
  let framing = ''
  if (!isFramed && statusCode !== 204) {
    framing =
      isChunked || isStreamed ? 'transfer-encoding: chunked\r\n' : `content-length: ${content.length}\r\n`
  }
  const head = headText(statusCode, fields, framing)
  if (isBodiless(method, statusCode)) {
    yield head
  } else if (!isStreamed && !isChunked) {
    yield Buffer.concat([Buffer.from(head, 'latin1'), content])
  } else {
    yield head
    for await (const bytes of contentPieces(content)) {
      if (bytes.length === 0) continue
      const size = `${bytes.length.toString(16)}\r\n`
      yield isChunked ? Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]) : bytes
    }
    if (isChunked) yield `0\r\n${fieldLines(trailers)}\r\n`
  }
}

function headText(statusCode: number, fields: HeaderBlock, framing: string): string {
  return `HTTP/1.1 ${statusCode} ${statusText(statusCode)}\r\n${fieldLines(fields)}${framing}\r\n`
}

function fieldLines({ flat }: HeaderBlock): string {
  let lines = ''
  for (let i = 0; i < flat.length; i += 2) lines += `${flat[i]}: ${flat[i + 1]}\r\n`
  return lines
}
