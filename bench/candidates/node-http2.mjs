// node:http2, one session.
import http2 from 'node:http2'
import { textOf } from './text.mjs'

export async function open({ origin, ca, method, headers, body }) {
  const session = http2.connect(origin, { ca })
  const fields = body === undefined ? headers : { ...headers, 'content-length': body.length }
  return {
    start(path, done) {
      const stream = session.request(
        { ':path': path, ':method': method, ...fields },
        { endStream: body === undefined },
      )
      const chunks = []
      let status = 0
      stream.on('response', (fields) => {
        status = fields[':status']
      })
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        if (status !== 200) return done(new Error(`status ${status}`))
        done(null, textOf(chunks))
      })
      stream.on('error', done)
      if (body !== undefined) stream.end(body)
    },
    close: () => session.destroy(),
  }
}
