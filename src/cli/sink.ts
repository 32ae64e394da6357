/** Where the body of a response goes: a file, a pipe, or a terminal. */

import { once } from 'node:events'
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { BodyText } from './body-text.ts'
import { UsageError } from './options.ts'
import type { Sink } from './receiver.ts'
import type { Output } from './text-layout.ts'

/**
 * A file is opened before the request is sent: without one, there is no point in sending it. It keeps what it
 * has until a body comes.
 *
 * Each piece is written before the next is read. So it needs no memory of its own, and whenever the process
 * is killed, the file has all that came.
 */
export class FileSink implements Sink {
  readonly name: string
  /** Bytes that it had. */
  readonly size: number
  readonly #file: number
  readonly #isNew: boolean
  #hasBegun = false

  constructor(name: string) {
    this.name = name
    this.#isNew = this.#try(() => statSync(name, { throwIfNoEntry: false })) === undefined
    this.#file = this.#try(() => openSync(name, 'a'))
    this.size = fstatSync(this.#file).size
  }

  /** Leaves this many of the bytes that it had, or all. */
  begin(most: number): void {
    this.#hasBegun = true
    // Nothing else has a length.
    if (fstatSync(this.#file).isFile()) this.#try(() => ftruncateSync(this.#file, Math.min(most, this.size)))
  }

  write(bytes: Buffer): null {
    return this.#try(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
      return null
    })
  }

  /** A file that was made for a body that did not come is removed. */
  close(): void {
    this.#try(() => closeSync(this.#file))
    if (this.#isNew && !this.#hasBegun) rmSync(this.name, { force: true })
  }

  #try<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw new UsageError(`cannot write ${this.name}: ${(error as Error).message}`)
    }
  }
}

/** As much as one read brings. */
const BLOCK = 65_536

/** Bytes as they come, in one piece of memory: the next ones wait until these are out. */
export class PipeSink implements Sink {
  readonly #output: Output
  readonly #block = Buffer.allocUnsafeSlow(BLOCK)

  constructor(output: Output) {
    this.#output = output
  }

  write(bytes: Buffer): Promise<unknown> {
    const piece = bytes.length > BLOCK ? Buffer.from(bytes) : this.#block.subarray(0, bytes.copy(this.#block))
    return new Promise<void>((resolve, reject) => {
      this.#output.write(piece, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Text as it comes, made harmless; nothing of what is no text. */
export class TerminalSink implements Sink {
  readonly #output: Output
  readonly #text: BodyText
  #endsLine = true

  constructor(output: Output, mimeType: string) {
    this.#output = output
    this.#text = new BodyText(mimeType)
  }

  get isBinary(): boolean {
    return this.#text.isBinary
  }

  write(bytes: Buffer): Promise<unknown> | null {
    return this.#print(this.#text.add(bytes))
  }

  /** What follows begins on a line of its own. */
  end(): void {
    void this.#print(this.#text.end())
    if (!this.#endsLine) this.#output.write('\n')
  }

  #print(text: string): Promise<unknown> | null {
    if (text === '') return null
    this.#endsLine = text.endsWith('\n')
    return this.#output.write(text) ? null : once(this.#output, 'drain')
  }
}

/** The head of a response as HTTP/1.1 writes it; over HTTP/2 as if it did. */
export function headText(
  {
    status,
    statusText,
    headers,
  }: { status: number; statusText: string; headers: readonly (readonly [string, string])[] },
  version: string,
): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [`${version} ${status} ${statusText}`, ...lines, '', ''].join('\r\n')
}
