/**
 * The response corpus of llhttp, strict rules: the same messages and the same error codes, however the bytes are split.
 * Intended differences are in `DIFFERENCES`, each with its reason.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Conversation,
  everySplit,
  singleBytes,
  transcript,
  whole,
} from '../protocol/http1/transcript.ts'
import { loadVectors } from '../support/vectors.ts'

interface Message {
  readonly status: number
  readonly reason: string
  readonly headers: readonly (readonly [string, string])[]
  readonly trailers?: readonly (readonly [string, string])[]
  readonly body: string
  readonly headersComplete: boolean
  readonly complete: boolean
}

interface Vector {
  readonly id: string
  readonly title: string
  readonly input: string
  readonly expect: 'ok' | 'error' | 'upgrade'
  readonly error?: { readonly name: string }
  readonly skipBody?: boolean
  readonly messages: readonly Message[]
}

/** Title → our result instead, and the reason. */
const DIFFERENCES: Readonly<Record<string, { readonly failure: string; readonly reason: string }>> = {
  'RTSP response': {
    failure: 'HPE_INVALID_CONSTANT',
    reason: 'an HTTP client has no use for RTSP',
  },
  'CR before response and tab after HTTP version': {
    failure: 'HPE_STRICT',
    reason: 'RFC 9112 §2.2: a bare CR is not an empty line; the first of the two faults is reported',
  },
}

const { data, skip } = loadVectors<{ vectors: readonly Vector[] }>('llhttp-responses.json', { vectors: [] })

function requestsOf(vector: Vector): string[] {
  const request = vector.expect === 'upgrade' ? 'GET upgrade' : vector.skipBody === true ? 'HEAD' : 'GET'
  return vector.messages.map(() => request)
}

/** The corpus keeps whitespace after values, which is not part of them (RFC 9112 §5.1). */
function fieldLines(kind: string, fields: Message['headers']): string[] {
  return fields.map(([name, value]) => `${kind} ${name}: ${JSON.stringify(value.replace(/[\t ]+$/, ''))}`)
}

function expected(vector: Vector): string[] {
  const lines: string[] = []
  for (const message of vector.messages) {
    lines.push('begin')
    if (!message.headersComplete) continue
    const kind = vector.expect === 'upgrade' ? 'upgrade' : message.status < 200 ? 'informational' : 'head'
    lines.push(`${kind} ${message.status} ${JSON.stringify(message.reason)}`)
    lines.push(...fieldLines('field', message.headers))
    if (message.body !== '') lines.push(`body ${JSON.stringify(message.body)}`)
    if (message.complete && kind === 'head') lines.push('end')
    lines.push(...fieldLines('trailer', message.trailers ?? []))
  }
  if (vector.error !== undefined && vector.expect === 'error') lines.push(`failure ${vector.error.name}`)
  return lines
}

/** Only events that the corpus has, too: not our decisions on length and reuse, not the bytes after an upgrade. */
function comparable(lines: readonly string[]): string[] {
  return lines
    .filter((line) => !line.startsWith('rest '))
    .map((line) => line.replace(/^((?:head|informational|upgrade) \d+ ".*?").*$/, '$1'))
}

describe('llhttp responses', { skip }, () => {
  for (const vector of data.vectors) {
    it(`${vector.id} ${vector.title}`, () => {
      const bytes = Buffer.from(vector.input, 'latin1')
      const conversation: Conversation = { requests: requestsOf(vector) }
      const seen = transcript(whole(bytes), conversation)
      assert.deepEqual(transcript(singleBytes(bytes), conversation), seen, 'single bytes')
      for (const pieces of everySplit(bytes)) {
        assert.deepEqual(transcript(pieces, conversation), seen, `split at ${pieces[0]!.length}`)
      }
      const difference = DIFFERENCES[vector.title]
      if (difference === undefined) assert.deepEqual(comparable(seen), expected(vector))
      else assert.equal(seen.at(-1), `failure ${difference.failure}`, difference.reason)
    })
  }

  it('lists only differences that exist', () => {
    for (const title of Object.keys(DIFFERENCES)) {
      const vector = data.vectors.find((candidate) => candidate.title === title)
      assert.ok(vector !== undefined, title)
      const seen = transcript(whole(Buffer.from(vector.input, 'latin1')), { requests: requestsOf(vector) })
      assert.notDeepEqual(comparable(seen), expected(vector), title)
    }
  })
})
