// Loops over event streams as programs declare them. Compiled, never run.
import {
  type EventIterator,
  type EventsInit,
  events,
  fetch,
  type ParseEventsOptions,
  parseEvents,
  request,
  type ServerComment,
  type ServerEvent,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

const init: EventsInit = {
  method: 'POST',
  body: new URLSearchParams({ q: 'x' }),
  redirect: 'error',
  headersTimeout: 1000,
  retryStatus: [429],
  reconnect: false,
}
export const iterator: EventIterator<ServerEvent> = events(new URL('http://a.test'), init)
export const withComments: EventIterator<ServerEvent | ServerComment> = events('http://a.test', {
  ...init,
  comments: true,
})

export async function read(): Promise<void> {
  for await (const event of events('http://a.test')) {
    const same: Equal<typeof event, ServerEvent> = true
    console.log(same)
  }
  const options: ParseEventsOptions = { maxEventSize: 0 }
  for await (const { data } of parseEvents(await fetch('http://a.test'), options)) console.log(data)
  for await (const { data } of parseEvents(await globalThis.fetch('http://a.test'))) console.log(data)
  for await (const { data } of parseEvents(await request('http://a.test'))) console.log(data)
  for await (const { data } of parseEvents(process.stdin)) console.log(data)
  for await (const item of parseEvents('', { comments: true })) {
    console.log('comment' in item ? item.comment : item.data)
  }
}
