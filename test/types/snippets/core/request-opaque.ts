import { Writable } from 'node:stream'
import { Client, type Dispatcher } from 'undici'

interface State {
  bufs: Buffer[]
}
const client = new Client('http://localhost')
const options: Dispatcher.RequestOptions<State> = { path: '/', method: 'GET', opaque: { bufs: [] } }
export const data: Promise<Dispatcher.ResponseData<State>> = client.request(options)
export const streamed = client.stream(
  { path: '/', method: 'GET', opaque: { bufs: [] as Buffer[] } },
  ({ statusCode, headers, opaque }) => {
    console.log(statusCode, headers.server)
    return new Writable({
      write(chunk, _encoding, callback) {
        opaque.bufs.push(chunk)
        callback()
      },
    })
  },
)
export const factory: Dispatcher.StreamFactory<State> = ({ opaque }) =>
  new Writable({ write: (chunk) => opaque.bufs.push(chunk) })
client.request(options, (err, response) => console.log(err, response.opaque.bufs.length))
client.stream(options, factory, (err, { opaque, trailers }) => console.log(err, opaque, trailers))
