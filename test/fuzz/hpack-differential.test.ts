/**
 * Our HPACK codec against that of node:http2, in both directions on one connection, with random fields and with tables
 * that change their size on both sides. Fields that the two ends read differently allow request smuggling over HTTP/2.
 */
import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http2'
import { describe, it } from 'node:test'
import { NodeHpackPeer } from './node-hpack-peer.ts'
import { Random } from './random.ts'

const EXCHANGES = 150

const NAMES = [
  'accept',
  'user-agent',
  'referer',
  'cookie',
  'authorization',
  'if-none-match',
  'x-a',
  'x-b',
  'x-c',
]
const REPLY_NAMES = [
  'server',
  'etag',
  'vary',
  'cache-control',
  'content-type',
  'location',
  'x-a',
  'x-b',
  'via',
]
const SIZES = [0, 1, 33, 100, 512, 4096, 8192, 16_384, 65_536]

/** Octets that a field value may contain, except at its ends, where a space would be trimmed. */
function value(random: Random): string {
  const length = random.oneIn(12) ? random.below(2_000) : random.small(40)
  const wide = random.oneIn(3)
  let text = ''
  for (let i = 0; i < length; i++) {
    const inside = i > 0 && i < length - 1
    if (inside && random.oneIn(8)) text += random.pick([' ', '\t', ',', ';'])
    else if (wide && random.oneIn(3)) text += String.fromCharCode(0x80 + random.below(0x80))
    else text += String.fromCharCode(0x21 + random.below(0x5e))
  }
  return text
}

/** Values repeat, as in real traffic: the tables exist for that. */
class Vocabulary {
  readonly #random: Random
  readonly #known: string[] = []

  constructor(random: Random) {
    this.#random = random
  }

  word(): string {
    if (this.#known.length > 0 && !this.#random.oneIn(3)) return this.#random.pick(this.#known)
    const word = value(this.#random)
    this.#known.push(word)
    return word
  }
}

function name(random: Random, known: readonly string[]): string {
  return random.oneIn(5) ? `x-${random.below(40)}-${'n'.repeat(random.small(30))}` : random.pick(known)
}

function requestFields(random: Random, words: Vocabulary): string[] {
  const path = `/${random.below(20)}`
  const method = random.pick(['GET', 'GET', 'POST', 'DELETE'])
  const fields = [':method', method, ':scheme', 'http', ':authority', 'a.test', ':path', path]
  for (let count = random.below(8); count > 0; count--) fields.push(name(random, NAMES), words.word())
  return fields
}

/** One value for each name: node:http2 combines two in its own way. */
function replyFields(random: Random, words: Vocabulary): string[] {
  const fields = new Map([[':status', random.pick(['200', '200', '204', '404', '503', '299'])]])
  fields.set('date', random.pick(['Mon, 21 Oct 2013 20:13:21 GMT', 'Mon, 21 Oct 2013 20:13:22 GMT']))
  for (let count = random.below(8); count > 0; count--) fields.set(name(random, REPLY_NAMES), words.word())
  const cookies = Array.from({ length: random.below(3) }, () => words.word())
  return [...[...fields].flat(), ...cookies.flatMap((cookie) => ['set-cookie', cookie])]
}

function toObject(flat: readonly string[]): OutgoingHttpHeaders {
  const object: OutgoingHttpHeaders = {}
  const cookies: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] === 'set-cookie') cookies.push(flat[i + 1]!)
    else object[flat[i]!] = flat[i + 1]!
  }
  if (cookies.length > 0) object['set-cookie'] = cookies
  return object
}

describe('both codecs mean the same', () => {
  for (const seed of [7541, 9113]) {
    it(`seed ${seed}`, async () => {
      const random = new Random(seed)
      const words = new Vocabulary(random)
      const peer = await NodeHpackPeer.open()
      try {
        for (let i = 0; i < EXCHANGES; i++) {
          if (i > 0 && random.oneIn(8)) await peer.resize(random.pick(SIZES))
          // Two changes in a row: the smallest and the last must both be announced (RFC 7541 §4.2).
          if (i > 0 && random.oneIn(20)) {
            await peer.resize(0)
            await peer.resize(random.pick(SIZES))
          }
          for (let changes = random.oneIn(8) ? 1 + random.below(2) : 0; changes > 0; changes--) {
            peer.announce(random.pick(SIZES))
          }
          const fields = requestFields(random, words)
          const reply = replyFields(random, words)
          const { received, decoded } = await peer.exchange(fields, toObject(reply))
          assert.deepEqual(received, fields)
          assert.deepEqual(decoded, reply)
        }
      } finally {
        await peer.close()
      }
    })
  }
})
