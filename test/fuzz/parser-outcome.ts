/**
 * One response, twice: as a caller of our client sees it, and as a caller of the runtime's own client sees it, if a
 * server sends the same bytes and closes.
 */
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Client, type DispatchOptions } from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

export interface Outcome {
  /** The final response is complete, or the connection was handed over. */
  readonly accepted: boolean
  /** Null without a final head. */
  readonly status: number | null
  readonly reason: string
  /** name, value, name, value … as received, latin1. */
  readonly headers: readonly string[]
  readonly body: string
  readonly trailers: readonly string[]
  readonly upgraded: boolean
  /** Code of the error, or its message if it has none; '' without an error. */
  readonly error: string
  readonly message: string
}

/** `GET`, `HEAD`, `GET upgrade` or `CONNECT`. */
export type RequestShape = 'GET' | 'HEAD' | 'GET upgrade' | 'CONNECT'

/** Turns of the event loop after which everything has happened: neither client needs a timer for it. */
const PATIENCE = 500

/** Delivers the bytes once the client has sent its request; true if the exchange has ended. */
async function answer(socket: MemorySocket, bytes: Buffer, isOver: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < PATIENCE && socket.written === ''; turn++) await turns(1)
  if (bytes.length > 0) socket.push(bytes)
  socket.finish()
  for (let turn = 0; turn < PATIENCE && !isOver(); turn++) await turns(1)
  return isOver()
}

export async function outcomeOfOurs(bytes: Buffer, shape: RequestShape): Promise<Outcome> {
  const socket = new MemorySocket()
  const client = new Client('http://localhost:1', { connect: (_, callback) => callback(null, socket) })
  client.on('error', () => {})
  let isOver = false
  const handler = new RecordingHandler()
  handler.settled.then(() => {
    isOver = true
  })
  const options: DispatchOptions = {
    method: shape === 'GET upgrade' ? 'GET' : shape,
    path: shape === 'CONNECT' ? 'a.test:80' : '/',
    ...(shape === 'GET upgrade' ? { upgrade: 'x' } : null),
  }
  client.dispatch(options, handler)
  if (!(await answer(socket, bytes, () => isOver))) throw new Error('our client has come to no end')
  socket.on('error', () => {}).destroy()
  await client.destroy()
  const { controller, error, statusText, body } = handler
  const upgraded = handler.socket !== null
  const status = handler.status ?? 0
  const isFinal = status >= 200 || upgraded
  const cause = error?.cause as { code?: string } | undefined
  const own = (error as { code?: string } | undefined)?.code
  return {
    accepted: error === undefined,
    status: isFinal ? status : null,
    reason: isFinal && !upgraded ? (statusText ?? '') : '',
    headers: isFinal ? texts(rawList(controller?.rawHeaders)) : [],
    body,
    trailers: texts(rawList(controller?.rawTrailers)),
    upgraded,
    error: error === undefined ? '' : String(cause?.code ?? own ?? error.message),
    message: error?.message ?? '',
  }
}

function texts(raw: readonly Buffer[] | null | undefined): string[] {
  return (raw ?? []).map((part) => part.toString('latin1'))
}

export async function outcomeOfTheirs(bytes: Buffer, shape: RequestShape): Promise<Outcome> {
  const socket = new MemorySocket()
  const request = http.request({
    method: shape === 'GET upgrade' ? 'GET' : shape,
    path: shape === 'CONNECT' ? 'a.test:80' : '/',
    createConnection: () => socket,
    headers: shape === 'GET upgrade' ? { connection: 'upgrade', upgrade: 'x' } : { connection: 'keep-alive' },
  })
  const seen = new Seen(request)
  request.end()
  await answer(socket, bytes, () => seen.isOver || socket.destroyed)
  await turns(3)
  request.destroy()
  socket.destroy()
  return seen.outcome(shape)
}

class Seen {
  #response: IncomingMessage | null = null
  #upgraded = false
  #body = ''
  #ended = false
  #error = ''
  #message = ''
  isOver = false

  constructor(request: ClientRequest) {
    const fail = (error: Error & { code?: string }): void => {
      if (this.#error !== '') return
      this.#error = error.code ?? error.message
      this.#message = error.message
    }
    request.on('error', fail)
    request.on('close', () => {
      this.isOver = true
    })
    request.on('response', (response) => {
      this.#response = response
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        this.#body += chunk.toString('latin1')
      })
      response.on('end', () => {
        this.#ended = response.complete
      })
    })
    const handOver = (response: IncomingMessage, socket: Duplex): void => {
      // The runtime also hands over for a response that follows the expected one.
      if (this.#response !== null) return
      this.#response = response
      this.#upgraded = true
      this.isOver = true
      socket.on('error', () => {}).destroy()
    }
    request.on('upgrade', handOver)
    request.on('connect', handOver)
  }

  outcome(shape: RequestShape): Outcome {
    const response = this.#response
    // The runtime hands a connection over even without a request for it.
    const upgraded = this.#upgraded && (shape === 'CONNECT' || shape === 'GET upgrade')
    return {
      accepted: upgraded || (this.#ended && !this.#upgraded),
      status: response?.statusCode ?? null,
      reason: upgraded ? '' : (response?.statusMessage ?? ''),
      headers: response?.rawHeaders ?? [],
      body: this.#body,
      trailers: response?.rawTrailers ?? [],
      upgraded,
      error: this.#error,
      message: this.#message,
    }
  }
}
