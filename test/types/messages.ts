// A mistake in an option is reported at that option: each comment covers the next line alone.
import { Agent, Client, request } from '../../src/index.ts'

const client = new Client('http://localhost', {
  // @ts-expect-error: a number
  headersTimeout: '5',
})

export const mistakes = [
  () =>
    client.request({
      path: '/',
      method: 'GET',
      // @ts-expect-error: a number
      headersTimeout: '5',
    }),
  () =>
    client.request({
      path: '/',
      method: 'GET',
      // @ts-expect-error: no such option
      headerTimeout: 5,
    }),
  () =>
    request('http://localhost', {
      // @ts-expect-error: a number
      headersTimeout: '5',
    }),
  () =>
    request('http://localhost', {
      // @ts-expect-error: no such option
      bodyTimout: 5,
    }),
  () =>
    new Agent({
      // @ts-expect-error: no such option
      connection: 5,
    }),
]
