// A mistake in an option is reported at that option: each comment covers the next line alone.
import { Agent, Client, fetch, MockAgent, Pool, request } from '../../src/index.ts'

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
  () =>
    client.request({
      path: '/',
      method: 'POST',
      // @ts-expect-error: text, bytes, a stream …
      body: 5,
    }),
  () =>
    request('http://localhost', {
      // @ts-expect-error: text
      method: 5,
    }),
  () =>
    fetch('http://localhost', {
      // @ts-expect-error: no such option
      headersTimeot: 5,
    }),
  () =>
    fetch('http://localhost', {
      // @ts-expect-error: one of three words
      redirect: 'never',
    }),
  () =>
    new Pool('http://localhost', {
      // @ts-expect-error: a number
      connections: '5',
    }),
  () =>
    new MockAgent().get('http://localhost').intercept({
      path: '/',
      // @ts-expect-error: no such option
      metod: 'GET',
    }),
  () =>
    new MockAgent().get('http://localhost').intercept({ path: '/' }).reply(
      200,
      {},
      {
        // @ts-expect-error: no such option
        header: {},
      },
    ),
]
