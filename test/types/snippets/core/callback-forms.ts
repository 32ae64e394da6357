import { Client } from 'undici'

const client = new Client('http://localhost')
client.request({ path: '/', method: 'GET', opaque: { id: 1 } }, (error, data) => {
  if (error) throw error
  const id: number = data.opaque.id
  data.body
    .on('data', (chunk: Buffer) => console.log(id, chunk.length))
    .on('end', () => console.log(data.trailers))
})
client.stream(
  { path: '/', method: 'GET', opaque: process.stdout },
  ({ opaque }) => opaque,
  (error, data) => console.log(error, data.opaque),
)
client.upgrade({ path: '/', protocol: 'a' }, (error, data) => console.log(error, data.socket.end()))
client.connect({ path: 'a:1' }, (error, { socket }) => console.log(error, socket.write('a')))
client.close(() => console.log('closed'))
client.destroy(new Error('no'), () => console.log('destroyed'))
client.destroy(null).then(() => {})
