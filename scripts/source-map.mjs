// Source maps (ECMA-426): keeps a map true when characters are deleted from the code that it is for, and small.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * The code without these ranges, which are in order, and the map of the result. It leads to lines of the sources, each
 * to its first column: with every column it would be four times as large, and a stack trace is as useful without.
 */
export function deleteFrom(code, map, deletions) {
  let result = ''
  let end = 0
  for (const deletion of deletions) {
    result += code.slice(end, deletion.start)
    end = deletion.end
  }
  result += code.slice(end)
  const segments = moved(decode(map.mappings, lineStarts(code)), deletions)
  return { code: result, map: { ...map, names: [], mappings: encode(segments, lineStarts(result)) } }
}

/** A segment keeps its place in the sources; its place in the code moves by the characters deleted before it. */
function moved(segments, deletions) {
  let deleted = 0
  let next = 0
  return segments.map(({ offset, ...place }) => {
    for (; next < deletions.length && deletions[next].end <= offset; next++) {
      deleted += deletions[next].end - deletions[next].start
    }
    return { offset: Math.min(offset, deletions[next]?.start ?? offset) - deleted, ...place }
  })
}

/** The segments with numbers that are not relative to the segment before. */
function decode(mappings, starts) {
  const segments = []
  let source = 0
  let sourceLine = 0
  let sourceColumn = 0
  mappings.split(';').forEach((line, at) => {
    let offset = starts[at]
    for (const segment of line === '' ? [] : line.split(',')) {
      const [columns, sources = 0, sourceLines = 0, sourceColumns = 0] = numbersIn(segment)
      offset += columns
      source += sources
      sourceLine += sourceLines
      sourceColumn += sourceColumns
      segments.push({ offset, source, sourceLine, sourceColumn })
    }
  })
  return segments
}

function encode(segments, starts) {
  const lines = starts.map(() => [])
  let previous = { line: -1, column: 0, source: 0, sourceLine: 0, sourceColumn: 0 }
  let line = 0
  for (const { offset, source, sourceLine, sourceColumn } of segments) {
    while (line + 1 < starts.length && starts[line + 1] <= offset) line++
    const isNew = previous.line !== line
    if (!isNew && previous.source === source && previous.sourceLine === sourceLine) continue
    const column = offset - starts[line]
    lines[line].push(
      digitsOf(column - (isNew ? 0 : previous.column)) +
        digitsOf(source - previous.source) +
        digitsOf(sourceLine - previous.sourceLine) +
        digitsOf(sourceColumn - previous.sourceColumn),
    )
    previous = { line, column, source, sourceLine, sourceColumn }
  }
  return lines.map((line) => line.join(',')).join(';')
}

function lineStarts(text) {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
}

/** Base64 VLQ: five bits in a digit, the sixth says that more follow, the lowest bit of all is the sign. */
function numbersIn(segment) {
  const numbers = []
  let value = 0
  let shift = 0
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if (bits >= 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    value = 0
    shift = 0
  }
  return numbers
}

function digitsOf(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1
  let digits = ''
  do {
    digits += DIGITS[(rest & 31) | (rest > 31 ? 32 : 0)]
    rest >>= 5
  } while (rest > 0)
  return digits
}
