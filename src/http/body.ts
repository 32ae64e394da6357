/** The body of a call: at most one of four options, serialised at the call, with its content type. */
import { messageOf } from '../base/error/message-of.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BodyInput, FormDataLike } from '../request/dispatch-options.ts'
import { BODY_OPTIONS } from './known-options.ts'
import { formText, readQuery } from './query.ts'

export interface RequestBody {
  readonly content: BodyInput | (() => BodyInput) | null
  /** Null where the dispatcher knows it, or there is none. */
  readonly type: string | null
}

type Given = { readonly [N in (typeof BODY_OPTIONS)[number]]?: unknown }

const NONE: RequestBody = { content: null, type: null }

export function readBody(given: Given): RequestBody {
  const names = BODY_OPTIONS.filter((name) => given[name] !== undefined)
  if (names.length > 1) throw new InvalidArgumentError(`a request has one body, not ${names.join(' and ')}`)
  switch (names[0]) {
    case 'json':
      return { content: jsonText(given.json), type: 'application/json' }
    case 'form':
      return {
        content: formText(readQuery(given.form, 'form')),
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
      }
    case 'multipart':
      return { content: formData(given.multipart), type: null }
    case 'body':
      return { content: given.body as BodyInput, type: null }
    default:
      return NONE
  }
}

function jsonText(value: unknown): string {
  if (typeof (value as { then?: unknown } | null)?.then === 'function') {
    throw new InvalidArgumentError('json is a promise: await it first')
  }
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new InvalidArgumentError(`json cannot be serialised: ${messageOf(cause)}`, { cause })
  }
  if (text === undefined) {
    const isSilent = typeof value === 'object'
    throw new InvalidArgumentError(
      isSilent
        ? 'json cannot be serialised: its toJSON() returns nothing'
        : `json cannot be a ${typeof value}`,
    )
  }
  return text
}

function formData(given: unknown): FormDataLike {
  if (typeof given !== 'object' || given === null) {
    throw new InvalidArgumentError('multipart must be a FormData or an object')
  }
  if ((given as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'FormData') {
    return given as FormDataLike
  }
  const form = new FormData()
  for (const [name, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      if (one instanceof Blob) form.append(name, one)
      else if (/^(?:string|boolean)$/.test(typeof one) || Number.isFinite(one)) form.append(name, String(one))
      else {
        const kinds = 'a string, a number, a boolean, a Blob, or a list of them'
        throw new InvalidArgumentError(`multipart.${name} must be ${kinds}`)
      }
    }
  }
  return form as FormDataLike
}

/** What progress is compared with; null for what is only known while it is sent. */
export function lengthOf(content: RequestBody['content']): number | null {
  if (typeof content === 'string') return Buffer.byteLength(content)
  if (content instanceof Blob) return content.size
  return ArrayBuffer.isView(content) || content instanceof ArrayBuffer ? content.byteLength : null
}
