/**
 * The requests to the chaos origin and its correct answers: both follow from the number of a request, so that an answer
 * to another request is detected immediately.
 */

/** Most are short; some are longer than a frame and than a socket's buffer. */
function sizeOf(id: number, salt: number): number {
  const mixed = Math.imul(id + salt, 0x9e37_79b1) >>> 0
  if (mixed % 11 === 0) return 20_000 + (mixed % 9_000)
  return mixed % 5 === 0 ? 2_000 + (mixed % 3_000) : mixed % 200
}

function filled(id: number, salt: number, name: string): string {
  const size = sizeOf(id, salt)
  return `${name} ${id} `.repeat(Math.ceil(size / 6) + 1).slice(0, size)
}

/** Requests with this and higher numbers have answers that are too large for a client to hold completely. */
export const LARGE = 1_000_000
const LARGE_SIZE = 300_000

/** The only correct answer to a request. */
export function answerTo(id: number): string {
  if (id >= LARGE) return `answer ${id} `.repeat(LARGE_SIZE / 10).slice(0, LARGE_SIZE)
  return filled(id, 7, 'answer')
}

/** The body of a request that has one; never empty. */
export function uploadOf(id: number): string {
  return `upload ${id}${filled(id, 3, 'upload')}`
}

/** The trailers of a request that has some. */
export function trailersOf(id: number): Record<string, string> {
  return { 'x-request': `trailers ${id}` }
}

export function pathOf(id: number): string {
  return `/chaos/${id}`
}

export function idIn(path: string): number {
  return Number(path.slice(path.lastIndexOf('/') + 1))
}
