/** The body of a response as a value for an error: by its `content-type`, as far as it was kept. */
import type { HeaderObject } from '../../protocol/header-block.ts'

/** JSON as its value, text as text, anything else as bytes. Truncated or invalid JSON is text. */
export function bodyValue(bytes: Buffer, headers: HeaderObject, isTruncated: boolean): unknown {
  if (bytes.length === 0) return ''
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim())
  const name = type.toLowerCase()
  const isJson = name.startsWith('application/json') || name.endsWith('+json')
  if (!isJson && !name.startsWith('text/')) return bytes
  const text = decode(bytes, parameters)
  return isJson && !isTruncated ? parsed(text) : text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** UTF-8 unless another encoding is named that the runtime knows. */
function decode(bytes: Buffer, parameters: readonly string[]): string {
  const given = parameters.map((part) => /^charset="?([^"]*)"?$/i.exec(part)?.[1]).find(Boolean)
  try {
    return new TextDecoder(given).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
