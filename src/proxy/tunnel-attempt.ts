/**
 * One attempt to open a tunnel: gets the token, sends CONNECT, and after a refusal once more if the agent has
 * other credentials. One time limit covers all of it.
 */

import type { Duplex } from 'node:stream'
import { isThenable, whenReady } from '../base/loop/thenable.ts'
import { discardSocket } from '../base/node/discard-socket.ts'
import { loadNet } from '../base/node/lazy-modules.ts'
import { setOwn } from '../base/object/own-record.ts'
import { channels } from '../diagnostics.ts'
import { Client } from '../dispatcher/client.ts'
import { InvalidArgumentError, ProxyConnectionError, SocketError } from '../errors.ts'
import { portOf } from '../guard/place.ts'
import { timeoutError } from '../net/connect-errors.ts'
import { startConnectTimeout, type TimeoutTarget } from '../net/connect-timeout.ts'
import type { DispatchOptions, HeadersInput } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { type FlatHeaders, flatHeaders } from '../request/headers-input.ts'
import { ConnectExchange, type ConnectOutcome } from './connect-exchange.ts'
import { connectError, type Refusal, refusedTunnel, withProxy } from './proxy-error.ts'
import { PROXY_AUTHORIZATION } from './proxy-fields.ts'
import type { ProxyHop } from './proxy-hop.ts'
import type { OnTunnel, TunnelTry } from './tunnel-hop.ts'

/** Some schemes take several steps (RFC 4559 §5: two). A proxy may also refuse without end. */
export const MOST_TRIES = 5

export class TunnelAttempt implements TunnelTry, TimeoutTarget {
  readonly #hop: ProxyHop
  readonly #authority: string
  /** Null when it was called. */
  #answer: OnTunnel | null
  #stopClock: () => void = () => {}
  #exchange: ConnectExchange | null = null
  /** The connection of a refusal, as long as the next CONNECT may be sent on it. */
  #refused: Duplex | null = null
  #tries = 0
  /** The proxy refused the token, and another one was asked for: that happens once. */
  #hasNewToken = false

  /** `authority`: host and port of the target. */
  constructor(hop: ProxyHop, authority: string, answer: OnTunnel) {
    this.#hop = hop
    this.#authority = authority
    this.#answer = answer
  }

  start(): void {
    // Nobody waits for an attempt that was garbage-collected: every outcome stops the clock.
    this.#stopClock = startConnectTimeout(this.#hop.settings.dial.timeout, this, () => {})
    try {
      this.#authorize(this.#hop.tunnelling, [])
    } catch (error) {
      // The caller's `clientFactory` threw.
      this.#fail(error)
    }
  }

  /** The sockets are those of the dispatcher that sends CONNECT. */
  cancel(reason: Error): readonly Duplex[] {
    this.#end()
    this.#exchange?.cancel(reason)
    return []
  }

  onConnectTimeout(): void {
    const { uri, address, settings } = this.#hop
    const { hostname } = address.origin
    const goal = { hostname, port: portOf(address.origin), timeout: settings.dial.timeout }
    const error = withProxy(timeoutError(goal, []), uri, 'proxy-connect')
    const answer = this.#end()
    this.#exchange?.cancel(error)
    answer?.(error, null)
  }

  #end(): OnTunnel | null {
    const answer = this.#answer
    this.#answer = null
    this.#stopClock()
    this.#keepRefused(null)
    return answer
  }

  #keepRefused(socket: Duplex | null): void {
    if (this.#refused !== null && this.#refused !== socket) discardSocket(this.#refused)
    this.#refused = socket
  }

  /** A dispatcher of the caller may fail with any value. */
  #fail(value: unknown): void {
    const error = connectError(toError(value), this.#hop.uri)
    this.#end()?.(error, null)
  }

  #authorize(dispatcher: Dispatching, extra: FlatHeaders): void {
    this.#await(
      () => this.#hop.fields.authorization(),
      (authorization) => this.#connect(dispatcher, authorization, extra),
    )
  }

  /** Calls a function of the caller. It may throw, and return a value or a promise. */
  #await<T>(call: () => T | Promise<T>, then: (value: T) => void): void {
    const goOn = (value: T): void => {
      if (this.#answer !== null) then(value)
    }
    try {
      const later = whenReady(call(), goOn)
      if (isThenable(later)) later.catch((error: unknown) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  #connect(dispatcher: Dispatching, authorization: string | null, extra: FlatHeaders): void {
    const hop = this.#hop
    const fields = hop.fields.for(this.#authority, authorization, extra)
    const options: DispatchOptions = {
      origin: hop.uri,
      method: 'CONNECT',
      path: this.#authority,
      headers: fields as HeadersInput,
      servername: hop.servername,
      // Another CONNECT may follow on the connection.
      ...(hop.settings.onProxyResponse === null ? null : { reset: false }),
    }
    this.#tries++
    this.#exchange = new ConnectExchange((outcome) => {
      if (outcome.is === 'failure' && dispatcher !== hop.tunnelling) {
        // The proxy has closed the connection after its refusal without announcing it.
        this.#keepRefused(null)
        this.#tries--
        this.#connect(hop.tunnelling, authorization, extra)
      } else this.#onOutcome(outcome, fields)
    })
    this.#exchange.start(dispatcher, options)
  }

  #onOutcome(outcome: ConnectOutcome, fields: FlatHeaders): void {
    if (outcome.is === 'failure') this.#fail(outcome.error)
    else if (outcome.is === 'refusal') {
      this.#keepRefused(outcome.socket)
      this.#onRefusal(outcome.refusal)
    } else {
      this.#keepRefused(outcome.socket)
      this.#refused = null
      this.#publish(outcome.socket, fields)
      const answer = this.#end()
      if (answer === null) discardSocket(outcome.socket)
      else answer(null, outcome.socket)
    }
  }

  #onRefusal(refusal: Refusal): void {
    const { fields, settings } = this.#hop
    if (refusal.statusCode === 407 && fields.isRotating && !this.#hasNewToken) {
      this.#hasNewToken = true
      this.#keepRefused(null)
      this.#authorize(this.#hop.tunnelling, [])
    } else {
      this.#await(
        () => (this.#tries < MOST_TRIES ? settings.onProxyResponse?.(refusal) : null),
        (headers) => this.#onAnswerToRefusal(headers, refusal),
      )
    }
  }

  #onAnswerToRefusal(headers: HeadersInput | null | undefined, refusal: Refusal): void {
    if (headers === null || headers === undefined) {
      this.#end()?.(refusedTunnel(this.#hop.uri, refusal), null)
      return
    }
    const extra = flatHeaders(headers)
    const socket = this.#refused
    const isUsable = socket instanceof loadNet().Socket && !socket.destroyed
    if (!isUsable) this.#keepRefused(null)
    this.#authorize(isUsable ? clientOn(this.#hop.uri, socket) : this.#hop.tunnelling, extra)
  }

  #publish(socket: Duplex, fields: FlatHeaders): void {
    if (!channels.proxyConnected.hasSubscribers) return
    const { uri, address, servername } = this.#hop
    const headers: Record<string, unknown> = {}
    for (let i = 0; i < fields.length; i += 2) {
      const name = String(fields[i])
      setOwn(headers, name, name.toLowerCase() === PROXY_AUTHORIZATION ? '***' : fields[i + 1])
    }
    const { port } = address.origin
    const connectParams = { origin: uri, port, path: this.#authority, headers, servername }
    channels.proxyConnected.publish({ socket, connectParams })
  }
}

/** Schemes that authenticate a connection and not a request (RFC 4559 §6) continue on the same one. */
function clientOn(uri: string, socket: Duplex): Client {
  let isTaken = false
  return new Client(uri, {
    connect: (_target, callback) => {
      if (isTaken || socket.destroyed) {
        callback(new ProxyConnectionError(new SocketError('other side closed')))
        return
      }
      isTaken = true
      callback(null, socket)
      // It was paused after the refusal.
      socket.resume()
    },
  })
}

function toError(value: unknown): Error {
  return value instanceof Error
    ? value
    : new InvalidArgumentError(`the answer is not usable: ${textOf(value)}`)
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}
