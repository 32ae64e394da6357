/**
 * The functions through which the runtime, a peer's bytes or a caller enter the library, and its calls of a socket.
 * Each call has a number in a run and can be made to throw, before it has done its work or right after. Functions that
 * report the end of something are not among them: that report has to arrive.
 */
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { BodyPump } from '../../src/connection/body-pump.ts'
import { BodyWriter } from '../../src/connection/body-writer.ts'
import { Http1Connection } from '../../src/connection/http1/connection.ts'
import { Http1Exchange } from '../../src/connection/http1/exchange.ts'
import { Http1Idleness } from '../../src/connection/http1/idle.ts'
import { Http1Sender } from '../../src/connection/http1/sender.ts'
import { Http2Connection } from '../../src/connection/http2/connection.ts'
import { Http2Exchange } from '../../src/connection/http2/exchange.ts'
import { Http2Idle } from '../../src/connection/http2/idle.ts'
import { Http2Liveness } from '../../src/connection/http2/liveness.ts'
import { Http2Output } from '../../src/connection/http2/output.ts'
import { PoolScheduler } from '../../src/dispatcher/pool/scheduler.ts'
import { ClientSession } from '../../src/dispatcher/session/client-session.ts'
import { StreamTransport } from '../../src/net/stream-transport.ts'
import { ResponseParser } from '../../src/protocol/http1/response-parser.ts'
import { ClientEngine } from '../../src/protocol/http2/client-engine.ts'
import { Request } from '../../src/request/request.ts'
import { InjectedError } from './fault.ts'

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Whether it is to throw `before` or `after` its work; null: not at all. */
export type EdgeMark = (name: string) => 'before' | 'after' | null

const EDGES: readonly (readonly [
  { readonly prototype: object; readonly name: string },
  readonly string[],
])[] = [
  [
    Http1Connection,
    ['onBytes', 'onDrain', 'onEof', 'onDeadline', 'offer', 'becomeIdle', 'onInspected', 'onIdle'],
  ],
  [Http2Connection, ['onBytes', 'onDrain', 'onEof', 'offer', 'becomeIdle']],
  [Http2Idle, ['begin', 'awaitStream', 'onStream', 'onDeadline']],
  [Http2Exchange, ['begin', 'onHead', 'onData', 'onEnd', 'onWritable', 'onDeadline']],
  [Http2Output, ['flush']],
  [Http1Exchange, ['begin', 'endRead', 'onHead', 'onBody', 'onEnd', 'onLate']],
  [Http1Sender, ['sendWhole', 'sendStreamed', 'resume']],
  [Http2Liveness, ['onReceived', 'onDeadline', 'onRequest', 'onPong']],
  [Http1Idleness, ['onPolled', 'onTurnEnd', 'inspect', 'begin']],
  [BodyWriter, ['onChunk', 'onSourceEnd']],
  [BodyPump, ['start', 'resume']],
  [ResponseParser, ['execute', 'finish', 'expect']],
  [
    ClientEngine,
    ['receive', 'open', 'send', 'sendTrailers', 'release', 'reset', 'takeOutput', 'ping', 'shutdown'],
  ],
  [
    Request,
    [
      'start',
      'attach',
      'onWritten',
      'onBodyRead',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onInformational',
      'onHead',
      'onData',
    ],
  ],
  [ClientSession, ['dispatchQueued', 'onSettledDown']],
  [PoolScheduler, ['dispatchQueued', 'onSettledDown']],
  [StreamTransport, ['writeAll', 'writeNow', 'writeAllNow', 'setReading', 'setReferenced']],
]

const SOCKET_METHODS = ['write', 'cork', 'uncork', 'pause', 'resume', 'on', 'unshift', 'destroy'] as const

function wrap(method: Method, name: string, mark: EdgeMark): Method {
  return function (...args) {
    const when = mark(name)
    if (when === 'before') throw new InjectedError(`thrown in ${name}`)
    const result = method.apply(this, args)
    if (when === 'after') throw new InjectedError(`thrown behind ${name}`)
    return result
  }
}

/** Depth of internal calls that destroy a socket. Other code destroys sockets, too, and must not see this fault. */
let destroying = 0

/** After the hand-over, a socket and its exceptions belong to the caller. */
function unwatchSocket(socket: Duplex): void {
  for (const method of SOCKET_METHODS) Reflect.deleteProperty(socket, method)
}

function watchTransports(): () => void {
  const { prototype } = StreamTransport
  const { destroy, detach } = prototype
  prototype.detach = function (this: StreamTransport, unread) {
    const socket = detach.call(this, unread)
    unwatchSocket(socket)
    return socket
  }
  prototype.destroy = function (this: StreamTransport, error) {
    destroying++
    try {
      destroy.call(this, error)
    } finally {
      destroying--
    }
  }
  return () => {
    Object.assign(prototype, { destroy, detach })
  }
}

/** Returns a function that removes it again. */
export function watchEdges(mark: EdgeMark): () => void {
  const restore: (() => void)[] = [watchTransports()]
  for (const [{ prototype, name }, methods] of EDGES) {
    for (const method of methods) {
      const work: unknown = Reflect.get(prototype, method)
      assert.equal(typeof work, 'function', `${name} has ${method}`)
      const descriptor = Object.getOwnPropertyDescriptor(prototype, method)
      const value = wrap(work as Method, `${name}.${method}`, mark)
      Object.defineProperty(prototype, method, { value, configurable: true, writable: true })
      restore.push(() => {
        // A method of the base class is found there again.
        if (descriptor === undefined) Reflect.deleteProperty(prototype, method)
        else Object.defineProperty(prototype, method, descriptor)
      })
    }
  }
  return () => {
    for (const each of restore) each()
  }
}

/** The same for a socket that a connector delivers. */
export function watchSocket(socket: Duplex, mark: EdgeMark): void {
  for (const method of SOCKET_METHODS) {
    const isOurs = method === 'destroy' ? () => destroying > 0 : () => true
    const value = wrap(socket[method] as Method, `socket.${method}`, (name) => (isOurs() ? mark(name) : null))
    Object.defineProperty(socket, method, { value, configurable: true, writable: true })
  }
}
