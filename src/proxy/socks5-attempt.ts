/**
 * One attempt to open a tunnel through a SOCKS 5 proxy: a connection to it, then the negotiation, each step
 * with the time limit. It calls back once, or not at all after `cancel`.
 */
import type { Duplex } from 'node:stream'
import { ipBytes } from '../base/address/ip-address.ts'
import { asciiHost, withoutBrackets } from '../base/address/server-name.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { InvalidArgumentError, type ProxyPhase, Socks5ProxyError } from '../errors.ts'
import { portOf } from '../guard/place.ts'
import { ConnectDetails } from '../net/connect-details.ts'
import { timeoutError } from '../net/connect-errors.ts'
import { startConnectTimeout, type TimeoutTarget } from '../net/connect-timeout.ts'
import type { ConnectorOptions } from '../net/connector.ts'
import { MAX_FIELD_LENGTH } from '../protocol/socks5/constants.ts'
import type { Socks5Failure } from '../protocol/socks5/failures.ts'
import type { Destination } from '../protocol/socks5/messages.ts'
import { Socks5Negotiation, type Socks5Step } from '../protocol/socks5/negotiation.ts'
import { withProxy } from './proxy-error.ts'
import type { Socks5Address } from './socks5-address.ts'
import type { OnTunnel, TunnelTry } from './tunnel-hop.ts'

/** The proxy of an attempt. */
export interface Socks5Proxy {
  readonly address: Socks5Address
  /** Milliseconds for each step of the negotiation, and for `dial` if that has no limit of its own. */
  readonly timeout: number
  readonly dialHasLimit: boolean
  /** Opens a connection to the proxy. May be a function of the caller: it may throw, and call back twice. */
  dial(localAddress: string | null, details: ConnectDetails, callback: OnTunnel): void
  /** The attempt has ended; with a socket if the tunnel is open. */
  onOver(socket: Duplex | null): void
}

const PHASES: Record<Socks5Step, ProxyPhase> = {
  greeting: 'socks-greeting',
  auth: 'socks-auth',
  request: 'socks-request',
}

type State =
  | { readonly at: 'dialing'; readonly details: ConnectDetails }
  | {
      readonly at: 'negotiating'
      readonly socket: Duplex
      readonly negotiation: Socks5Negotiation
      step: Socks5Step
    }
  | { readonly at: 'over' }

const OVER: State = { at: 'over' }

export class Socks5Attempt implements TunnelTry, TimeoutTarget {
  readonly #proxy: Socks5Proxy
  readonly #target: ConnectorOptions
  readonly #answer: OnTunnel
  #state: State = { at: 'dialing', details: new ConnectDetails() }
  #stopClock: () => void = () => {}

  readonly #listeners = Object.entries({
    readable: () => this.#guard(() => this.#read()),
    end: () => this.#fail(new Socks5ProxyError('other side closed')),
    close: () => this.#fail(new Socks5ProxyError('other side closed')),
    // Reported like an end; the error of the runtime is the cause.
    error: (cause: Error) => this.#fail(Object.assign(new Socks5ProxyError('other side closed'), { cause })),
  })

  constructor(proxy: Socks5Proxy, target: ConnectorOptions, answer: OnTunnel) {
    this.#proxy = proxy
    this.#target = target
    this.#answer = answer
  }

  start(): void {
    const state = this.#state
    if (state.at !== 'dialing') return
    const destination = destinationOf(this.#target)
    if (destination instanceof Error) {
      this.#fail(destination)
      return
    }
    if (!this.#proxy.dialHasLimit) this.#startClock()
    const localAddress = this.#target.localAddress ?? null
    this.#guard(() =>
      this.#proxy.dial(localAddress, state.details, (error, socket) => {
        if (socket !== null) this.#onDialed(socket, destination)
        else this.#fail(error!)
      }),
    )
  }

  cancel(reason: Error): readonly Duplex[] {
    const state = this.#end(null)
    if (state.at === 'dialing') return state.details.pending?.abandon(reason) ?? []
    if (state.at === 'over') return []
    state.socket.destroy()
    return [state.socket]
  }

  /** The proxy has not answered; after the request, the target has not. */
  onConnectTimeout(): void {
    const { address, timeout } = this.#proxy
    const isRequest = this.#state.at === 'negotiating' && this.#state.step === 'request'
    const { hostname } = isRequest ? this.#target : address
    const port = isRequest ? portOf(this.#target) : address.port
    this.#fail(timeoutError({ hostname, port, timeout }, []))
  }

  #startClock(): void {
    this.#stopClock()
    // While the clock runs, the socket or its connector refers to this.
    this.#stopClock = startConnectTimeout(this.#proxy.timeout, this, () => {})
  }

  #onDialed(socket: Duplex, destination: Destination): void {
    if (this.#state.at !== 'dialing') {
      // It was cancelled, or the caller's function calls back twice.
      socket.on('error', ignoreError)
      socket.destroy()
      return
    }
    const negotiation = new Socks5Negotiation(destination, this.#proxy.address.credentials)
    this.#state = { at: 'negotiating', socket, negotiation, step: 'greeting' }
    this.#startClock()
    this.#guard(() => {
      for (const [event, listener] of this.#listeners) socket.on(event, listener)
      socket.write(negotiation.start())
    })
  }

  /** Sockets of a caller's function may throw. */
  #guard(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #read(): void {
    const state = this.#state
    if (state.at !== 'negotiating') return
    const { socket, negotiation } = state
    for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) {
      const output = negotiation.receive(bytes as Buffer)
      if (output.length > 0) socket.write(output)
      // `write` may fail the socket.
      if (this.#state !== state) return
      const { state: reached } = negotiation
      if (reached.at === 'open') {
        this.#open(socket, reached.rest)
        return
      }
      const step = reached.at === 'failed' ? reached.step : reached.at
      const isNewStep = step === 'request' && state.step !== 'request'
      state.step = step
      if (reached.at === 'failed') {
        this.#fail(errorOf(reached.failure), reached.failure.reply)
        return
      }
      if (isNewStep) this.#startClock()
    }
  }

  #open(socket: Duplex, rest: Buffer): void {
    this.#end(socket)
    // For the new owner of the socket, and for TLS on it.
    if (rest.length > 0) socket.unshift(rest)
    this.#answer(null, socket)
  }

  #fail(error: Error, reply: number | null = null): void {
    const state = this.#end(null)
    if (state.at === 'over') return
    if (state.at === 'negotiating') state.socket.destroy()
    const phase = state.at === 'negotiating' ? PHASES[state.step] : 'proxy-dial'
    this.#answer(withProxy(error, this.#proxy.address.uri, phase, { reply }), null)
  }

  /** Returns the state in which it ended. */
  #end(socket: Duplex | null): State {
    const state = this.#state
    if (state.at === 'over') return state
    this.#state = OVER
    this.#stopClock()
    if (state.at === 'negotiating') this.#unlisten(state.socket)
    this.#proxy.onOver(socket)
    return state
  }

  /** An error may still come before the socket has a new owner. */
  #unlisten(socket: Duplex): void {
    try {
      socket.on('error', ignoreError)
      for (const [event, listener] of this.#listeners) socket.off(event, listener)
    } catch {
      // A value of the caller's function that is not a socket: its requests fail, or it is destroyed.
    }
  }
}

/** Where the proxy connects to; an error if SOCKS cannot express it. The proxy resolves names. */
function destinationOf(target: ConnectorOptions): Destination | InvalidArgumentError {
  const hostname = withoutBrackets(target.hostname)
  const port = portOf(target)
  const address = ipBytes(hostname)
  if (address !== null) return { address, port }
  const name = asciiHost(hostname)
  if (name === null || name === '') return new InvalidArgumentError('invalid hostname')
  return name.length > MAX_FIELD_LENGTH
    ? new InvalidArgumentError('Domain name too long (max 255 bytes)')
    : { address: name, port }
}

function errorOf({ blame, code, message }: Socks5Failure): Error {
  return blame === 'caller' ? new InvalidArgumentError(message) : new Socks5ProxyError(message, code)
}
