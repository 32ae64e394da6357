// The clock alone: what a paced measurement costs without any request.
const PROTOCOLS = { h1: 'HTTP/1.1', 'h1-tls': 'HTTP/1.1', h2c: 'HTTP/2.0', h2: 'HTTP/2.0' }

export function open({ wire }) {
  return { isClock: true, send: async () => PROTOCOLS[wire], close() {} }
}
