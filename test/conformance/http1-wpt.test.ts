/**
 * Responses with one odd byte from web-platform-tests, each followed by EOF. Browsers are more lenient than a client for
 * programs should be: `DIFFERENCES` gives the reason wherever we are stricter or decide a disputed case differently.
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

type Verdict = 'ok' | 'error' | 'error-at-eof'

interface Vector {
  readonly id: string
  readonly input: string
  readonly expect: Verdict
  readonly bodyLength?: number
  readonly status?: number
  readonly reason?: string
}

const LF_ONLY =
  'LF line ends: lines must end in CRLF here, a bare LF is HPE_CR_EXPECTED (RFC 9112 §2.2 allows both)'
const BAD_LENGTH =
  'RFC 9112 §6.3 rule 5: an invalid Content-Length is an unrecoverable error; browsers read on until EOF'
const REPEATED_LENGTH = 'RFC 9112 §6.3 rule 5 permits merging equal lengths; we refuse any repetition'
const LEGAL_COLON = 'a colon is legal there (RFC 9112 §4 reason-phrase, RFC 9110 §5.5 field-value)'

/** Id → the reason for the opposite verdict. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'h1-parsing/SP/after-num': 'the same bytes as SP/before-reason, which is expected to be valid',
  'h1-parsing/COLON/after-reason': LEGAL_COLON,
  'h1-parsing/COLON/in-name': LEGAL_COLON,
  'h1-parsing/COLON/before-colon': LEGAL_COLON,
  'h1-parsing/COLON/after-colon': LEGAL_COLON,
  'h1-parsing/COLON/after-value': LEGAL_COLON,
  'h1-parsing/status-code/1 OK': LF_ONLY,
  'h1-parsing/status-code/077 77': LF_ONLY,
  'h1-parsing/status-code/200': LF_ONLY,
  'content-length/Content-Length: 42,42': REPEATED_LENGTH,
  'content-length/Content-Length: 42\r\nContent-Length: 42': REPEATED_LENGTH,
  'content-length/Content-Length: 42\r\nContent-Length: 42,42': REPEATED_LENGTH,
  'content-length/Content-Length: 30\r\nContent-Length: 30': REPEATED_LENGTH,
  'content-length/Content-Length: 30,30,  30  \r\nContent-Length: 30  ': REPEATED_LENGTH,
  'content-length/Content-Length: aaaah, aaaah': BAD_LENGTH,
  'content-length/Content-Length: 42s': BAD_LENGTH,
  'content-length/Content-Length: 30s': BAD_LENGTH,
  'content-length/Content-Length: "30"': BAD_LENGTH,
  'content-length/Content-Length: ': BAD_LENGTH,
}

const { data, skip } = loadVectors<Readonly<Record<string, Vector[]>>>('wpt-h1.json', {})
const vectors = Object.values(data).filter(Array.isArray).flat()

const conversation: Conversation = { requests: ['GET'], close: true }

/** Bytes after a finished response cost the connection, not the response. */
function verdict(lines: readonly string[]): Verdict {
  if (lines.includes('end')) return 'ok'
  return lines.some((line) => line.startsWith('head ')) ? 'error-at-eof' : 'error'
}

function bodyLength(lines: readonly string[]): number {
  const body = lines.find((line) => line.startsWith('body '))
  return body === undefined ? 0 : (JSON.parse(body.slice(5)) as string).length
}

describe('web-platform-tests HTTP/1 parsing', {
  skip,
}, () => {
  for (const vector of vectors) {
    it(JSON.stringify(vector.id), () => {
      const bytes = Buffer.from(vector.input, 'latin1')
      const seen = transcript(whole(bytes), conversation)
      assert.deepEqual(transcript(singleBytes(bytes), conversation), seen, 'single bytes')
      for (const pieces of everySplit(bytes)) {
        assert.deepEqual(transcript(pieces, conversation), seen, `split at ${pieces[0]!.length}`)
      }
      if (vector.id in DIFFERENCES) {
        assert.notEqual(verdict(seen), vector.expect, 'the listed difference exists')
        return
      }
      assert.equal(verdict(seen), vector.expect)
      if (vector.bodyLength !== undefined) assert.equal(bodyLength(seen), vector.bodyLength)
    })
  }

  it('lists only cases that exist', () => {
    const ids = new Set(vectors.map((vector) => vector.id))
    assert.deepEqual(
      Object.keys(DIFFERENCES).filter((id) => !ids.has(id)),
      [],
    )
  })
})
