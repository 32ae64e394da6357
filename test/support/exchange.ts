/** An origin that answers with what it received, and the two ends of promises. */
import assert from 'node:assert/strict'
import type http from 'node:http'

/** The request that the echo origin received. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string | string[] | undefined>
  /** Latin-1, so that any bytes survive JSON. */
  readonly body: string
}

export async function contentOf(source: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of source) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks)
}

/** Answers with a description of the request. */
export function echo(request: http.IncomingMessage, response: http.ServerResponse): void {
  contentOf(request).then(
    (body) => {
      const { method, url, headers } = request
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ method, url, headers, body: body.toString('latin1') }))
    },
    () => response.destroy(),
  )
}

export async function readEcho(response: { body: { json(): Promise<unknown> } }): Promise<Echo> {
  return (await response.body.json()) as Echo
}

/** The error a promise rejects with. */
export function failure(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return promise.then(
    () => assert.fail('expected a failure'),
    (error) => error as Error & Record<string, unknown>,
  )
}

/** A promise with its resolve and reject functions. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
