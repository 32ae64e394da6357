/**
 * The runtime's own limit for heads, `--max-http-header-size`. It is read from where it was given, not from
 * `node:http`: importing that makes Node 22 and later load their built-in HTTP client, which installs an
 * agent for the whole process.
 */

/** The runtime's default, and what counts when its setting is of no use. */
const DEFAULT_SIZE = 16384

/** The runtime takes underscores for dashes. */
const OPTION = /^--max[-_]http[-_]header[-_]size(?:=(.*))?$/

/** @param words The arguments of the runtime. The last one wins. */
export function headerSizeIn(words: readonly string[]): number {
  let size = DEFAULT_SIZE
  words.forEach((word, at) => {
    const match = OPTION.exec(word)
    if (match !== null) size = Number(match[1] ?? words[at + 1])
  })
  return Number.isInteger(size) && size > 0 ? size : DEFAULT_SIZE
}

export function runtimeHeaderSize(): number {
  const environment = (process.env['NODE_OPTIONS'] ?? '').replaceAll('"', '').split(/\s+/)
  return headerSizeIn([...environment, ...process.execArgv])
}
