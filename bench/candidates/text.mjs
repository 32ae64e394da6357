// Every candidate reads each whole body and converts it to a string; these functions do that by hand.
import { Writable } from 'node:stream'

export function textOf(chunks) {
  return chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString()
}

export class TextWritable extends Writable {
  chunks = []

  _write(chunk, _encoding, callback) {
    this.chunks.push(chunk)
    callback()
  }
}
