// got: no retries, no decompression, and the headers that every candidate sends.
import http from 'node:http'
import https from 'node:https'
import got from 'got'

export async function open({ origin, wire, ca, connections, method, headers, body }) {
  const agents = {
    http: new http.Agent({ keepAlive: true, maxSockets: connections }),
    https: new https.Agent({ keepAlive: true, maxSockets: connections, ca }),
  }
  const instance = got.extend({
    ...(wire === 'h2' ? { http2: true } : { agent: agents }),
    https: { certificateAuthority: ca },
    retry: { limit: 0 },
    decompress: false,
    method,
    headers,
  })
  // A body passed to extend() is not sent.
  const options = body === undefined ? undefined : { body }
  return {
    async send(path) {
      const response = await instance(origin + path, options)
      if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
      return response.body
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}
