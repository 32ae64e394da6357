/** Whole clients, from the public interface down to an in-memory connection, over both protocols. */
import assert from 'node:assert/strict'
import { Client, H2CClient } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'
import { cut } from '../mutator.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'
import { MemoryExchange, type Opener } from './memory-exchange.ts'

const ORIGIN = 'http://localhost:1'

async function check(open: Opener, { context, bytes }: Recording, random: Random): Promise<void> {
  const whole = bytes.length === 0 ? [] : [bytes]
  if (random.oneIn(2)) {
    const exchange = new MemoryExchange(open, random)
    exchange.request(context)
    await exchange.play(random.oneIn(2) ? whole : cut(bytes, random))
    return
  }
  const reports: unknown[] = []
  for (const pieces of [whole, cut(bytes, random)]) {
    const exchange = new MemoryExchange(open, null)
    exchange.request(context)
    await exchange.play(pieces)
    reports.push(exchange.report())
  }
  if (reports.includes(null)) return
  assert.deepEqual(reports[1], reports[0], 'the same bytes in other pieces')
}

export const http1Client: Target = {
  name: 'http1-client',
  corpus: 'http1',
  check: (input, random) =>
    check((connect) => new Client(ORIGIN, { connect, pipelining: 10, maxHeaderSize: 4_096 }), input, random),
}

export const http2Client: Target = {
  name: 'http2-client',
  corpus: 'http2',
  check: (input, random) =>
    check((connect) => new H2CClient(ORIGIN, { connect, maxHeaderSize: 20_000 }), input, random),
}
