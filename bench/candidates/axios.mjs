// axios on its http adapter, with the headers that every candidate sends.
import http from 'node:http'
import https from 'node:https'
import axios from 'axios'

export async function open({ origin, ca, connections, method, headers, body }) {
  const httpAgent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const httpsAgent = new https.Agent({ keepAlive: true, maxSockets: connections, ca })
  const instance = axios.create({
    adapter: 'http',
    baseURL: origin,
    httpAgent,
    httpsAgent,
    decompress: false,
    responseType: 'text',
    transformRequest: (data) => data,
    transformResponse: (data) => data,
    proxy: false,
    headers: { ...headers, 'accept-encoding': false },
  })
  return {
    async send(path) {
      const response = await instance.request({ url: path, method, data: body })
      if (response.status !== 200) throw new Error(`status ${response.status}`)
      return response.data
    },
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}
