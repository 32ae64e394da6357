/** Damages recorded bytes. The random numbers determine how. */
import type { Format } from './format.ts'
import type { Random } from './random.ts'

/** Inputs do not grow beyond this: more of the same input does not test more. */
const MAX_LENGTH = 65_536

/** Number of changes to one input: mostly few, so that it stays close to valid input. */
const MAX_CHANGES = 5

type Operator = (bytes: Buffer, random: Random, format: Format, others: readonly Buffer[]) => Buffer

function replaced(bytes: Buffer, from: number, to: number, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([bytes.subarray(0, from), ...parts, bytes.subarray(to)])
}

/** A range that starts and ends at unit boundaries. */
function units(bytes: Buffer, format: Format, random: Random): readonly [from: number, to: number] {
  const starts = format.boundaries(bytes)
  const first = random.below(starts.length - 1)
  const last = Math.min(starts.length - 1, first + 1 + random.small(3))
  return [starts[first] ?? 0, starts[last] ?? bytes.length]
}

function anyRange(bytes: Buffer, random: Random): readonly [from: number, to: number] {
  const from = random.below(bytes.length)
  return [from, Math.min(bytes.length, from + 1 + random.small(64))]
}

const flipBit: Operator = (bytes, random) => {
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  return bytes
}

const setByte: Operator = (bytes, random) => {
  bytes[random.below(bytes.length)] = random.pick([0, 9, 10, 13, 32, 58, 127, 128, 255, random.below(256)])
  return bytes
}

const insertWord: Operator = (bytes, random, format) => {
  const [at] = random.oneIn(3) ? anyRange(bytes, random) : units(bytes, format, random)
  return replaced(bytes, at, at, random.pick(format.words))
}

const overwriteWithWord: Operator = (bytes, random, format) => {
  const [from, to] = random.oneIn(2) ? anyRange(bytes, random) : units(bytes, format, random)
  return replaced(bytes, from, to, random.pick(format.words))
}

const insertBytes: Operator = (bytes, random) => {
  const at = random.below(bytes.length + 1)
  return replaced(bytes, at, at, random.bytes(1 + random.small(8)))
}

const remove: Operator = (bytes, random, format) => {
  const [from, to] = random.oneIn(2) ? anyRange(bytes, random) : units(bytes, format, random)
  return replaced(bytes, from, to)
}

const duplicate: Operator = (bytes, random, format) => {
  const [from, to] = random.oneIn(3) ? anyRange(bytes, random) : units(bytes, format, random)
  const copies = random.oneIn(10) ? 2 + random.below(40) : 1
  return replaced(bytes, to, to, ...new Array<Buffer>(copies).fill(bytes.subarray(from, to)))
}

const exchange: Operator = (bytes, random, format) => {
  const [a, b] = units(bytes, format, random)
  const [c, d] = units(bytes, format, random)
  if (b > c) return bytes
  return Buffer.concat([
    bytes.subarray(0, a),
    bytes.subarray(c, d),
    bytes.subarray(b, c),
    bytes.subarray(a, b),
    bytes.subarray(d),
  ])
}

const splice: Operator = (bytes, random, format, others) => {
  const other = random.pick(others)
  const [from, to] = units(other, format, random)
  const [at, end] = units(bytes, format, random)
  switch (random.below(3)) {
    case 0:
      return replaced(bytes, at, at, other.subarray(from, to))
    case 1:
      return replaced(bytes, at, end, other.subarray(from, to))
    default:
      return Buffer.concat([bytes.subarray(0, at), other.subarray(from)])
  }
}

const truncate: Operator = (bytes, random, format) => {
  const end = random.oneIn(2) ? random.below(bytes.length) : units(bytes, format, random)[1]
  return bytes.subarray(0, end)
}

const editField: Operator = (bytes, random, format) => {
  if (bytes.length > 0) format.editField(bytes, random)
  return bytes
}

/** Mutations that keep most of the structure are listed more than once. */
const OPERATORS: readonly Operator[] = [
  flipBit,
  setByte,
  insertWord,
  insertWord,
  overwriteWithWord,
  insertBytes,
  remove,
  duplicate,
  exchange,
  splice,
  splice,
  truncate,
  editField,
  editField,
  editField,
]

/** A changed copy. `others` are recordings of the same format to take pieces from. */
export function mutate(original: Buffer, others: readonly Buffer[], format: Format, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(original)
  for (let changes = 1 + random.small(MAX_CHANGES); changes > 0; changes--) {
    // A view of the last step's memory would let the next one change the recording.
    bytes = Buffer.from(random.pick(OPERATORS)(bytes, random, format, others).subarray(0, MAX_LENGTH))
  }
  return bytes
}

/** Splits bytes into pieces: single bytes, at a few places, or at many. There are no empty pieces. */
export function cut(bytes: Buffer, random: Random): Buffer[] {
  const longest = random.pick([1, 3, 10, 40, 300, 5_000])
  const pieces: Buffer[] = []
  // A long input in single bytes takes long and reveals no more than its first part.
  const fine = longest < 10 ? Math.min(bytes.length, 2_000) : bytes.length
  for (let at = 0; at < bytes.length; ) {
    const size = at < fine ? 1 + random.below(longest) : bytes.length - at
    pieces.push(bytes.subarray(at, Math.min(bytes.length, at + size)))
    at += size
  }
  return pieces
}
