import { MessageEvent } from 'undici'

interface Payload {
  kind: 'a' | 'b'
}
const event: MessageEvent<Payload> = new MessageEvent<Payload>('message', { data: { kind: 'a' } })
export const read = ({ data }: MessageEvent<string>): string => data.toUpperCase()
export const kind: 'a' | 'b' = event.data.kind
export const untyped = (any: MessageEvent): string => read(any)
