// Bytes of an event stream through the parser, in chunks as a socket gives them.
const CHUNK = 65_536

export async function benchmarks(load) {
  const { eventLimits } = await load('protocol/event-stream/limits.js')
  const { EventStreamParser } = await load('protocol/event-stream/parser.js')
  let events = 0
  const sink = {
    onEvent() {
      events++
    },
    onRetry() {},
    onFailure() {},
  }
  const benchmark = (text) => {
    const parser = new EventStreamParser(sink, eventLimits(0))
    const count = Math.ceil(CHUNK / Buffer.byteLength(text))
    const chunk = Buffer.from(text.repeat(count))
    const run = () => {
      const before = events
      parser.push(chunk)
      if (events - before !== count) throw new Error('an event is missing')
    }
    return { run, operations: count }
  }
  const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })
  return {
    'event of 20 bytes': benchmark(`data: ${'x'.repeat(20)}\n\n`),
    'event of 400 bytes': benchmark(`data: ${'x'.repeat(400)}\n\n`),
    'token of a language model': benchmark(`event: delta\nid: 17\ndata: ${delta}\n\n`),
    'token that is not ASCII': benchmark(`event: delta\ndata: ${delta.replace('word', 'wörd')}\n\n`),
  }
}
