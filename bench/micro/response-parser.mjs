// Bytes of HTTP/1.1 responses through the parser.
import { CHUNKED_RESPONSE, LARGE_HEAD_RESPONSE, SMALL_RESPONSE } from './fields.mjs'

const PIPELINED = 10

export async function benchmarks(load) {
  const { HeadParsers } = await load('protocol/http1/head-parsers.js')
  const { ResponseParser } = await load('protocol/http1/response-parser.js')
  let ends = 0
  const sink = {
    onMessageBegin() {},
    onInformational() {},
    onHead() {},
    onBody() {},
    onEnd() {
      ends++
    },
    onUpgrade() {},
  }
  const benchmark = (text, responses, pieces = 1) => {
    const parser = new ResponseParser(sink, new HeadParsers({ maxHeaderSize: 16384 }))
    const bytes = Buffer.from(text)
    const size = Math.ceil(bytes.length / pieces)
    const run = () => {
      const before = ends
      for (let i = 0; i < responses; i++) parser.expect('GET', false)
      for (let at = 0; at < bytes.length; at += size)
        parser.execute(bytes, at, Math.min(bytes.length, at + size))
      if (ends - before !== responses)
        throw new Error(`${parser.failure?.message ?? 'a response is missing'}`)
    }
    return { run, operations: responses }
  }
  return {
    'small response': benchmark(SMALL_RESPONSE, 1),
    'small response, 10 in one read': benchmark(SMALL_RESPONSE.repeat(PIPELINED), PIPELINED),
    'response with 20 fields': benchmark(LARGE_HEAD_RESPONSE, 1),
    'response with 20 fields, in 4 reads': benchmark(LARGE_HEAD_RESPONSE, 1, 4),
    'chunked response, 4 chunks of 1 KB': benchmark(CHUNKED_RESPONSE, 1),
  }
}
