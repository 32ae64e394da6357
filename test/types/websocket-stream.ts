// A WebSocketStream as programs declare it. Compiled, never run.
import {
  Agent,
  type WebSocketCloseInfo,
  type WebSocketClosure,
  type WebSocketConnectionInfo,
  WebSocketError,
  WebSocketStream,
  type WebSocketStreamOptions,
} from '../../src/index.ts'

const options: WebSocketStreamOptions = {
  protocols: ['a'] as const,
  signal: AbortSignal.timeout(1000),
  dispatcher: new Agent(),
  headers: { 'x-token': '1' },
}

export async function talk(): Promise<WebSocketClosure> {
  const stream = new WebSocketStream(new URL('ws://a.test'), options)
  const { readable, writable, protocol }: WebSocketConnectionInfo = await stream.opened
  const writer = writable.getWriter()
  await writer.write(protocol)
  await writer.write(new Uint8Array(1))
  // @ts-expect-error: not a message
  await writer.write(5)
  for await (const message of readable)
    console.log(typeof message === 'string' ? message : message.byteLength)
  const info: WebSocketCloseInfo = { closeCode: 3000, reason: 'bye' }
  stream.close(info)
  await writable.abort(new WebSocketError('bye', info))
  return stream.closed
}
