/**
 * Huffman strings (RFC 7541 §5.2). Decoding runs an automaton over whole octets: a state is a node inside the
 * code tree, and one table entry has the symbols that an octet completes (at most two, for no code is shorter
 * than five bits) and where it leaves off. The work is one step per octet whatever the octets are.
 */
import { HUFFMAN_CODES, HUFFMAN_EOS, HUFFMAN_LENGTHS } from './huffman-table.ts'

/** A complete binary tree with 257 leaves has 256 inner nodes; the root is 0. */
const STATES = 256

/** Entry of the transition table: next state, symbol count, symbols. `FAILED` is the one for EOS. */
const COUNT_SHIFT = 8
const FIRST_SHIFT = 16
const SECOND_SHIFT = 24
const FAILED = 3 << COUNT_SHIFT

interface Automaton {
  /** Two children per inner node: an inner node, or a leaf as the complement of its symbol. */
  readonly children: Int16Array
  /**
   * Indexed by state and octet; 0 where that pair has not occurred yet. No entry is 0: to be at the root
   * again, a symbol must have been completed. Real text needs few of the 65,536 entries, and to make all of
   * them for the first response would stop the program for milliseconds.
   */
  readonly transitions: Uint32Array
  /** 1 for the states in which a string may end: fewer than eight bits of padding, all ones. */
  readonly accepting: Uint8Array
}

let automaton: Automaton | null = null

/** Made for the first Huffman string that arrives. */
function getAutomaton(): Automaton {
  automaton ??= buildAutomaton()
  return automaton
}

function buildAutomaton(): Automaton {
  const children = new Int16Array(STATES * 2)
  let nodes = 1
  for (let symbol = 0; symbol <= HUFFMAN_EOS; symbol++) {
    const code = HUFFMAN_CODES[symbol]!
    let node = 0
    for (let bit = HUFFMAN_LENGTHS[symbol]! - 1; bit > 0; bit--) {
      const edge = node * 2 + ((code >>> bit) & 1)
      // The root is never a child, so 0 is a child that has not been made yet.
      if (children[edge] === 0) children[edge] = nodes++
      node = children[edge]!
    }
    children[node * 2 + (code & 1)] = ~symbol
  }

  const accepting = new Uint8Array(STATES)
  for (let node = 0, padding = 0; padding < 8; padding++) {
    accepting[node] = 1
    node = children[node * 2 + 1]!
  }
  return { children, transitions: new Uint32Array(STATES * 256), accepting }
}

function makeTransition({ children, transitions }: Automaton, state: number, octet: number): number {
  let node = state
  let count = 0
  let symbols = 0
  for (let bit = 7; bit >= 0; bit--) {
    const child = children[node * 2 + ((octet >>> bit) & 1)]!
    if (child >= 0) {
      node = child
    } else if (child === ~HUFFMAN_EOS) {
      return FAILED
    } else {
      symbols |= ~child << (count === 0 ? FIRST_SHIFT : SECOND_SHIFT)
      count++
      node = 0
    }
  }
  const entry = (symbols | (count << COUNT_SHIFT) | node) >>> 0
  transitions[(state << 8) | octet] = entry
  return entry
}

/**
 * Octets that a Huffman string of `length` octets can decode to, at most: the shortest code has five bits.
 */
export function maxDecodedLength(length: number): number {
  return Math.floor((length * 8) / 5)
}

/**
 * Decodes into `out`, which has room for `maxDecodedLength` octets and one more. Returns the number of octets
 * decoded, or -1 when EOS or a wrong padding is met.
 */
export function huffmanDecode(buf: Uint8Array, start: number, end: number, out: Uint8Array): number {
  const machine = getAutomaton()
  const transitions = machine.transitions
  let state = 0
  let length = 0
  for (let i = start; i < end; i++) {
    const octet = buf[i]!
    let entry = transitions[(state << 8) | octet]!
    if (entry === 0) entry = makeTransition(machine, state, octet)
    // Both places are written at each step and the count decides which of them are valid; that is cheaper
    // than to branch on it.
    out[length] = entry >>> FIRST_SHIFT
    out[length + 1] = entry >>> SECOND_SHIFT
    const count = (entry >>> COUNT_SHIFT) & 3
    if (count === 3) return -1
    length += count
    state = entry & 0xff
  }
  return machine.accepting[state] === 1 ? length : -1
}

/**
 * Codes of up to fifteen bits with their length in the low four, 0 for the longer ones: one load per
 * character of any ordinary text.
 */
const SHORT_CODES: Uint32Array = new Uint32Array(256)
const MAX_SHORT_CODE = 15
for (let symbol = 0; symbol < 256; symbol++) {
  const length = HUFFMAN_LENGTHS[symbol]!
  if (length <= MAX_SHORT_CODE) SHORT_CODES[symbol] = (HUFFMAN_CODES[symbol]! << 4) | length
}

/** Octets of the code of `text`, with its padding, or -1 when a character is not latin1. */
export function huffmanLength(text: string): number {
  let bits = 0
  let seen = 0
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i)
    seen |= symbol
    bits += HUFFMAN_LENGTHS[symbol & 0xff]!
  }
  return seen > 0xff ? -1 : (bits + 7) >>> 3
}

/** Writes the code of `text` (latin1), padded with ones; returns the offset after it. */
export function huffmanEncode(text: string, out: Uint8Array, offset: number): number {
  let at = offset
  // Up to fifteen bits wait in the low end of `pending`; what is above them has been written.
  let pending = 0
  let bits = 0
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i)
    const short = SHORT_CODES[symbol]!
    if (short !== 0) {
      pending = (pending << (short & 15)) | (short >>> 4)
      bits += short & 15
    } else {
      // In two halves: with the bits that wait, a long code would not fit into 32.
      const code = HUFFMAN_CODES[symbol]!
      const rest = HUFFMAN_LENGTHS[symbol]! - MAX_SHORT_CODE
      pending = (pending << rest) | (code >>> MAX_SHORT_CODE)
      bits += rest
      if (bits >= 16) {
        bits -= 16
        out[at] = pending >>> (bits + 8)
        out[at + 1] = pending >>> bits
        at += 2
      }
      pending = (pending << MAX_SHORT_CODE) | (code & 0x7fff)
      bits += MAX_SHORT_CODE
    }
    if (bits >= 16) {
      bits -= 16
      out[at] = pending >>> (bits + 8)
      out[at + 1] = pending >>> bits
      at += 2
    }
  }
  if (bits >= 8) {
    bits -= 8
    out[at++] = pending >>> bits
  }
  if (bits > 0) out[at++] = (pending << (8 - bits)) | (0xff >>> bits)
  return at
}
