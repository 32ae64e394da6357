/**
 * Recorded traffic on disk: one text file for each kind, one line for each recording, `name`, `context` and the bytes
 * in base64, separated by tabs. The meaning of the context depends on the kind: the requests that an HTTP recording
 * answers, the compression that a WebSocket negotiated.
 *
 * Findings are kept the same way below `regressions`, one file each; a finding also has the seed with which its target
 * splits the bytes.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type CorpusKind = 'http1' | 'http2' | 'hpack' | 'websocket' | 'cookies'

export interface Recording {
  readonly name: string
  readonly context: string
  readonly bytes: Buffer
}

export interface Regression {
  readonly file: string
  readonly target: string
  readonly seed: number
  readonly input: Recording
}

const folder = fileURLToPath(new URL('corpus', import.meta.url))
const regressions = join(folder, 'regressions')

export function loadCorpus(kind: CorpusKind): Recording[] {
  return linesOf(join(folder, `${kind}.txt`)).map(([name = '', context = '', base64 = '']) => ({
    name,
    context,
    bytes: Buffer.from(base64, 'base64'),
  }))
}

/** Replaces the recordings of a kind; returns the size of the file. */
export function saveCorpus(kind: CorpusKind, recordings: readonly Recording[]): number {
  const text = recordings
    .map(({ name, context, bytes }) => `${name}\t${context}\t${bytes.toString('base64')}\n`)
    .join('')
  writeFileSync(join(folder, `${kind}.txt`), text)
  return text.length
}

export function loadRegressions(): Regression[] {
  if (!existsSync(regressions)) return []
  return readdirSync(regressions)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .flatMap((file) =>
      linesOf(join(regressions, file)).map(([target = '', seed = '', context = '', base64 = '']) => ({
        file,
        target,
        seed: Number(seed),
        input: { name: file, context, bytes: Buffer.from(base64, 'base64') },
      })),
    )
}

/** Returns the name of the file. */
export function saveRegression(target: string, seed: number, input: Recording): string {
  const line = `${target}\t${seed}\t${input.context}\t${input.bytes.toString('base64')}\n`
  const file = `${target}-${createHash('sha256').update(line).digest('hex').slice(0, 12)}.txt`
  mkdirSync(regressions, { recursive: true })
  writeFileSync(join(regressions, file), line)
  return file
}

function linesOf(path: string): string[][] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
}
