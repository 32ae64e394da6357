import { WebSocketError, WebSocketStream } from 'undici'

export async function talk(): Promise<string> {
  const stream = new WebSocketStream('ws://a.test', { protocols: ['a'], signal: AbortSignal.timeout(10) })
  const { readable, writable, protocol, extensions } = await stream.opened
  await writable.getWriter().write('x')
  for await (const chunk of readable) if (typeof chunk === 'string') return chunk
  stream.close({ closeCode: 1000, reason: 'over' })
  const { closeCode, reason } = await stream.closed
  const error = new WebSocketError('no', { closeCode, reason })
  return `${protocol} ${extensions} ${error.closeCode} ${error.reason}`
}
