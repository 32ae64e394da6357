/**
 * Field names and their lower-case spelling, remembered, because servers keep sending the same few dozen
 * names: a name found here costs neither a new string nor a new hash, and makes a fast property key.
 *
 * The memory is one table with a fixed place for every name; a new name replaces the one in its place. A peer
 * that invents names can therefore neither make it grow nor keep the honest names out of it.
 */
import { isToken } from './ascii.ts'

/** Places in the table: several times the names in common use, so that few share a place. A power of two. */
const PLACES = 1024

/** Longer names are not remembered: no common one is longer, and it bounds the table at about 256 KiB. */
const MAX_REMEMBERED_LENGTH = 64

const names: string[] = new Array<string>(PLACES).fill('')
const lowerNames: string[] = new Array<string>(PLACES).fill('')
/** 1 where the name is a token: only that may go to the wire. */
const tokens = new Uint8Array(PLACES)
/** The bytes of `names`, MAX_REMEMBERED_LENGTH for each: faster to compare than characters of strings. */
const spellings = new Uint8Array(PLACES * MAX_REMEMBERED_LENGTH)

/**
 * Length and four characters. With these factors no two of 126 spellings in common use share a place; for
 * other names it need not be a good hash, a shared place only costs time.
 */
function placeOf(length: number, first: number, middle: number, late: number, last: number): number {
  return (length * 91 + first * 37 + middle * 339 + late * 215 + last * 317) & (PLACES - 1)
}

function placeOfName(name: string): number {
  const length = name.length
  return placeOf(
    length,
    name.charCodeAt(0),
    name.charCodeAt(length >> 1),
    name.charCodeAt((length * 3) >> 2),
    name.charCodeAt(length - 1),
  )
}

function remember(place: number, name: string): void {
  names[place] = asPropertyKey(name)
  lowerNames[place] = asPropertyKey(name.toLowerCase())
  tokens[place] = isToken(name) ? 1 : 0
  const at = place * MAX_REMEMBERED_LENGTH
  for (let i = 0; i < name.length; i++) spellings[at + i] = name.charCodeAt(i)
}

/**
 * The same text as the string that the runtime keeps for property names: it is the one that callers' objects
 * have.
 */
function asPropertyKey(name: string): string {
  return Object.keys({ [name]: 0 })[0]!
}

export function lowerCaseName(name: string): string {
  const length = name.length
  if (length === 0 || length > MAX_REMEMBERED_LENGTH) return name.toLowerCase()
  const place = placeOfName(name)
  if (names[place] === name) return lowerNames[place]!
  // A copy, because the given string may be a slice that keeps a whole head alive. It also shows a caller's
  // name beyond latin1, which must not be remembered: its low bytes would pass for those of another name.
  const copy = Buffer.from(name, 'latin1').toString('latin1')
  if (copy !== name) return name.toLowerCase()
  remember(place, copy)
  return lowerNames[place]!
}

/** Whether a field may have this name; for a remembered name faster than looking at each character. */
export function isFieldName(name: string): boolean {
  return lowerCaseToken(name) !== ''
}

/** The lower-case spelling of a name that a field may have; '' for any other. */
export function lowerCaseToken(name: string): string {
  const length = name.length
  if (length > 0 && length <= MAX_REMEMBERED_LENGTH) {
    const place = placeOfName(name)
    if (names[place] === name) return tokens[place] === 1 ? lowerNames[place]! : ''
  }
  const lower = lowerCaseName(name)
  return isToken(name) ? lower : ''
}

/**
 * The name in `bytes[start, end)` in lower case, as one shared string where possible. The bytes are those of
 * a token.
 */
export function lowerNameFromBytes(bytes: Buffer, start: number, end: number): string {
  const length = end - start
  if (length > MAX_REMEMBERED_LENGTH) return bytes.toString('latin1', start, end).toLowerCase()
  const place = placeOf(
    length,
    bytes[start]!,
    bytes[start + (length >> 1)]!,
    bytes[start + ((length * 3) >> 2)]!,
    bytes[end - 1]!,
  )
  const known = names[place]!
  if (known.length === length) {
    const at = place * MAX_REMEMBERED_LENGTH
    let i = 0
    while (i < length && spellings[at + i] === bytes[start + i]) i++
    if (i === length) return lowerNames[place]!
  }
  remember(place, bytes.toString('latin1', start, end))
  return lowerNames[place]!
}
