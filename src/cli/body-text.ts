/** The text of a body that arrives in pieces, for a terminal. */
import { TextDecoder } from 'node:util'
import { JsonLayout } from './json-layout.ts'
import { clean } from './text-layout.ts'

/** Types whose bodies are no text, whatever their first bytes look like. */
const BINARY_TYPE =
  /^(?:audio|font|image(?!\/svg)|video)\/|^application\/(?:gzip|octet-stream|pdf|wasm|zip)\b/i

// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has them
export const NOT_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

export class BodyText {
  readonly #charset: string
  readonly #layout: JsonLayout | null
  #isBinary: boolean
  #decoder: TextDecoder | null = null
  /** What the last piece ended with is in doubt: half of a line break. */
  #held = ''

  constructor(mimeType: string) {
    this.#isBinary = BINARY_TYPE.test(mimeType)
    this.#charset = charsetOf(mimeType)
    this.#layout = /[/+]json\b/i.test(mimeType) ? new JsonLayout() : null
  }

  get isBinary(): boolean {
    return this.#isBinary
  }

  /** The text of the next bytes, empty if they are none. The first bytes decide. */
  add(bytes: Buffer): string {
    if (this.#isBinary) return ''
    if (this.#decoder === null) {
      this.#decoder = decoderFor(bytes, this.#charset)
      this.#isBinary = this.#decoder === null
      if (this.#decoder === null) return ''
    }
    return this.#shown(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): string {
    const text = this.#decoder === null || this.#isBinary ? '' : this.#shown(this.#decoder.decode())
    const rest = this.#held === '' ? '' : clean(this.#held)
    return text + rest + (this.#layout?.end() ?? '')
  }

  #shown(given: string): string {
    const text = this.#held + given
    const isHalf = text.endsWith('\r')
    this.#held = isHalf ? '\r' : ''
    const whole = (isHalf ? text.slice(0, -1) : text).replaceAll('\r\n', '\n')
    return clean(this.#layout?.add(whole) ?? whole)
  }
}

export function charsetOf(mimeType: string): string {
  return /;\s*charset="?([\w.:-]+)/i.exec(mimeType)?.[1] ?? 'utf-8'
}

/** Null when these bytes are not text in the charset they claim, nor in UTF-8. */
function decoderFor(bytes: Buffer, charset: string): TextDecoder | null {
  for (const label of [charset, 'utf-8']) {
    try {
      // A character cut in two at the end is left out.
      const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true })
      return NOT_TEXT.test(text) ? null : new TextDecoder(label)
    } catch {}
  }
  return null
}
