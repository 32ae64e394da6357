// The metrics of each measurement. Ratios use the first one.
const metric = (key, title, better, digits = 1) => ({ key, title, better, digits })

const THROUGHPUT = [
  metric('rps', 'requests/s', 'more', 0),
  metric('cpu', 'CPU µs/request', 'less', 2),
  metric('garbage', 'heap bytes/request', 'less', 0),
]

export const METRICS = {
  throughput: THROUGHPUT,
  gateway: THROUGHPUT,
  chunks: [
    metric('cps', 'chunks/s', 'more', 0),
    metric('cpu', 'CPU µs/chunk', 'less', 2),
    metric('garbage', 'heap bytes/chunk', 'less', 0),
  ],
  latency: [
    metric('p99', 'p99 ms', 'less', 2),
    metric('p50', 'p50 ms', 'less', 2),
    metric('p90', 'p90 ms', 'less', 2),
    metric('p999', 'p99.9 ms', 'less', 2),
  ],
  paced: [
    metric('cpu', 'CPU µs/request', 'less'),
    metric('turns', 'turns/request', 'less', 2),
    metric('p50', 'p50 ms', 'less', 2),
    metric('p99', 'p99 ms', 'less', 2),
    metric('p999', 'p99.9 ms', 'less', 2),
  ],
  spike: [metric('spike', 'most ms, when they end', 'less', 1), metric('calm', 'most ms, before', 'less', 1)],
  download: [metric('ms', 'ms/download', 'less', 0), metric('mbps', 'MB/s', 'more')],
  import: [
    metric('ms', 'ms', 'less'),
    metric('heap', 'heap KB', 'less', 0),
    metric('written', 'written KB', 'less', 0),
  ],
  cold: [
    metric('ms', 'ms in all', 'less'),
    metric('import', 'ms import', 'less'),
    metric('first', 'ms first request', 'less'),
    metric('hundred', 'ms next hundred', 'less'),
    metric('cpu', 'CPU ms', 'less'),
  ],
  // Resident first: much of a connection is native memory, and nghttp2's share is not on the heap.
  'idle-memory': [
    metric('rss', 'resident bytes', 'less', 0),
    metric('heap', 'heap + external bytes', 'less', 0),
  ],
  // Heap first: a request consists of objects, and the growth of the whole heap does not reflect their size.
  'flight-memory': [
    metric('heap', 'heap + external bytes', 'less', 0),
    metric('rss', 'resident bytes', 'less', 0),
  ],
  queue: [
    metric('many', 'µs/request, 100,000 queued', 'less', 2),
    metric('few', 'µs/request, 1,000 queued', 'less', 2),
    metric('growth', 'many ÷ few', 'less', 2),
    metric('cpuGrowth', 'the same of CPU', 'less', 2),
  ],
  sse: [
    metric('eps', 'events/s', 'more', 0),
    metric('cpu', 'CPU µs/event', 'less', 2),
    metric('first', 'KB in use after a tenth', 'less', 0),
    metric('last', 'KB in use after nine tenths', 'less', 0),
    metric('growth', 'late ÷ early', 'less', 2),
  ],
  million: [
    metric('rps', 'requests/s', 'more', 0),
    metric('first', 'heap KB after a tenth', 'less', 0),
    metric('last', 'heap KB at the end', 'less', 0),
    metric('growth', 'end ÷ tenth', 'less', 2),
  ],
}
