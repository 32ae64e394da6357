/** The ways to send a request, each as one call whose response is read chunk by chunk, as fast as the test lets it. */
import { Readable, Writable } from 'node:stream'
import { type Dispatcher, fetch } from '../../src/index.ts'
import { type Deferred, deferred } from '../support/exchange.ts'

export interface Call {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly path: string
  readonly signal?: AbortSignal
  /** A body that fails with the error when the server has the head of the request. */
  readonly failing?: { readonly when: Promise<void>; readonly error: Error } | undefined
  readonly reader?: Reader
}

/** Takes the first chunk, and the others when it may. */
export class Reader {
  readonly first: Deferred<void> = deferred()
  readonly mayGoOn: Deferred<void> = deferred()
  readonly #chunks: Uint8Array[] = []

  /** One that never stops. */
  static flowing(): Reader {
    const reader = new Reader()
    reader.mayGoOn.resolve()
    return reader
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  async take(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk)
    this.first.resolve()
    await this.mayGoOn.promise
  }

  async readAll(source: AsyncIterable<Uint8Array>): Promise<string> {
    for await (const chunk of source) await this.take(chunk)
    return this.text
  }
}

export type Caller = (call: Call) => Promise<string>

export const callers: Readonly<Record<string, Caller>> = {
  async request({ dispatcher, reader = Reader.flowing(), ...call }) {
    const { body } = await dispatcher.request(optionsOf(call))
    return await reader.readAll(body)
  },

  async stream({ dispatcher, reader = Reader.flowing(), ...call }) {
    const target = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => void reader.take(chunk).then(() => done()),
    })
    await dispatcher.stream(optionsOf(call), () => target)
    return reader.text
  },

  async pipeline({ dispatcher, reader = Reader.flowing(), failing, ...call }) {
    const duplex = dispatcher.pipeline(optionsOf({ ...call, failing }, false), ({ body }) => body)
    if (failing === undefined) duplex.end()
    else {
      duplex.write('first')
      void failing.when.then(() => duplex.destroy(failing.error))
    }
    return await reader.readAll(duplex)
  },

  async fetch({ dispatcher, origin, path, signal, failing, reader = Reader.flowing() }) {
    const { body } = await fetch(origin + path, {
      dispatcher,
      ...(signal && { signal }),
      ...(failing && { method: 'POST', body: webStream(failingBody(failing)), duplex: 'half' }),
    })
    return body === null ? '' : await reader.readAll(body as unknown as AsyncIterable<Uint8Array>)
  },
}

function optionsOf(
  { origin, path, signal, failing }: Omit<Call, 'dispatcher' | 'reader'>,
  hasBody = failing !== undefined,
): Dispatcher.RequestOptions {
  return {
    origin,
    path,
    method: failing === undefined ? 'GET' : 'POST',
    ...(signal && { signal }),
    ...(hasBody && { body: Readable.from(failingBody(failing!)) }),
  }
}

async function* failingBody({ when, error }: NonNullable<Call['failing']>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('first')
  await when
  throw error
}

function webStream(source: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await source.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}
