// Header blocks, encoded and decoded.
import { REQUEST, RESPONSE } from './fields.mjs'

/** A series of different blocks, for cases in which a field is new each time. */
const VARIED = 256

export async function benchmarks(load) {
  const { HpackEncoder } = await load('protocol/hpack/encoder.js')
  const { HpackDecoder, HPACK_OK } = await load('protocol/hpack/decoder.js')
  const out = Buffer.alloc(4096)
  const encode = (lists) => {
    const encoder = new HpackEncoder()
    let i = 0
    return { run: () => encoder.encode(lists[i++ % lists.length], out, 0) }
  }
  const newDecoder = () => new HpackDecoder({ maxTableSize: 4096, maxListSize: 65536, maxFields: 1000 })
  /** A decoder must see the blocks of one encoder in order, so a run is the whole series. */
  const decode = (lists) => {
    const encoder = new HpackEncoder()
    const blocks = lists.map((list) => Buffer.from(out.subarray(0, encoder.encode(list, out, 0))))
    const run = () => {
      const decoder = newDecoder()
      for (const block of blocks) {
        if (decoder.decode(block, 0, block.length, []) !== HPACK_OK) throw new Error(decoder.message)
      }
    }
    return { run, operations: blocks.length }
  }
  const same = (list) => Array.from({ length: VARIED }, () => list)
  const varied = (list, name) =>
    same(list).map((fields, i) => {
      const copy = [...fields]
      const at = copy.indexOf(name)
      if (at === -1) copy.push(name, `0b7f3c${i * 7919}-${i}`)
      else copy[at + 1] = `${copy[at + 1]}${i}`
      return copy
    })
  return {
    'encode a request, same again': encode([REQUEST]),
    'encode a request, another path': encode(varied(REQUEST, ':path')),
    'encode a request, another id': encode(varied(REQUEST, 'x-request-id')),
    'decode a response, same again': decode(same(RESPONSE)),
    'decode a response, another length': decode(varied(RESPONSE, 'content-length')),
    'decode a response, another id': decode(varied(RESPONSE, 'x-request-id')),
  }
}
