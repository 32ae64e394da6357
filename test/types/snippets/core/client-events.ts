import { Client, type Dispatcher, errors } from 'undici'

const client = new Client('http://localhost')
client.on('connect', (origin, targets) => console.log(origin.href, targets.length))
client.on('disconnect', (origin, targets, error) => {
  const target: Dispatcher | undefined = targets[0]
  const code: string = error.code
  console.log(origin.host, target, code, error instanceof errors.SocketError && error.socket?.bytesRead)
})
client.once('connectionError', (_origin, _targets, error) => console.log(error.code, error.name))
client.off('drain', (origin: URL) => console.log(origin.href))
client.emit('connect', new URL('http://localhost'), [client])
