/** A chaos caller that uses `fetch`, and everything such a caller may do with the body of a response. */
import { type Dispatcher, fetch, type Response } from '../../src/index.ts'
import { PromiseCall } from '../torture/call.ts'
import type { Random } from './random.ts'
import { giveAway, later, text } from './reader.ts'

/** Ways that end with the whole body or an error. */
const WHOLE = {
  text: 5,
  bytes: 2,
  blob: 1,
  iterate: 3,
  'iterate and give away': 2,
  reader: 2,
  'late text': 2,
  clone: 3,
  'clone and cancel the first': 1,
} as const

/** Ways that end earlier. */
const PARTLY = { unread: 4, half: 2, cancel: 2 } as const

type Way = keyof typeof WHOLE | keyof typeof PARTLY

/**
 * Responses that their callers keep without reading them. A dropped one is aborted when it is collected, which depends
 * on the garbage collector: a seed would not lead to the same run each time.
 */
const kept: Response[] = []

export interface FetchParameters {
  readonly url: string
  readonly method: string
  /** Bytes, text, or anything that can be iterated over. */
  readonly body: unknown
}

/** `right` is the only correct answer. */
export function callFetch(
  dispatcher: Dispatcher,
  name: string,
  { url, method, body }: FetchParameters,
  right: string,
  random: Random,
): PromiseCall {
  const isWhole = !random.oneIn(4)
  const way: Way = isWhole ? random.weighted(WHOLE) : random.weighted(PARTLY)
  // A signal can still end a body that was not read.
  const call = new PromiseCall(`${name} (fetch, ${way})`, isWhole ? right : null, way !== 'unread')
  fetch(url, { method, body: body as never, duplex: 'half', dispatcher, signal: call.signal })
    .then((response) => read(response, way, random))
    .then(
      (content) => {
        call.body = content
        call.settle()
      },
      (error: unknown) => call.settle(error),
    )
  return call
}

async function read(response: Response, way: Way, random: Random): Promise<string> {
  switch (way) {
    case 'text':
      return response.text()
    case 'bytes':
      return text(await response.bytes())
    case 'blob':
      return (await response.blob()).text()
    case 'iterate':
    case 'iterate and give away': {
      let all = ''
      for await (const chunk of response.body!) {
        all += text(chunk)
        if (way === 'iterate and give away') giveAway(chunk)
      }
      return all
    }
    case 'reader':
      return pulled(response)
    case 'late text':
      await later(random)
      return response.text()
    case 'clone': {
      const copy = response.clone()
      const [first, second] = await Promise.all([response.text(), copy.text()])
      if (first !== second) throw new Error('a response and its clone have different bodies')
      return first
    }
    case 'clone and cancel the first': {
      const copy = response.clone()
      const [, content] = await Promise.all([response.body!.cancel(), copy.text()])
      return content
    }
    case 'unread':
      kept.push(response)
      return ''
    case 'half':
      for await (const chunk of response.body!) return text(chunk)
      return ''
    case 'cancel':
      await response.body!.cancel()
      return ''
  }
}

async function pulled(response: Response): Promise<string> {
  const reader = response.body!.getReader()
  let all = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return all
    all += text(value)
  }
}
