// Received fields and the objects made from them.
import { FLAT_5, FLAT_20 } from './fields.mjs'

export async function benchmarks(load) {
  const { HeaderBlock } = await load('protocol/header-block.js')
  const { HeaderList } = await load('protocol/header-list.js')
  const small = new HeaderBlock(FLAT_5)
  const large = new HeaderBlock(FLAT_20)
  const outgoing = FLAT_5.map((part, i) => (i % 2 === 0 ? part.toLowerCase() : part))
  return {
    'object of 5 fields': { run: () => small.toObject() },
    'object of 20 fields': { run: () => large.toObject() },
    'Buffers of 5 fields': { run: () => small.toBuffers() },
    'find the last of 20': { run: () => large.get('x-field-14') },
    'check 5 outgoing fields': {
      run() {
        const list = new HeaderList()
        for (let i = 0; i < outgoing.length; i += 2) list.append(outgoing[i], outgoing[i + 1])
      },
    },
  }
}
