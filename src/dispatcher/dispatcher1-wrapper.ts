/**
 * A dispatcher for callers with handlers of the older generation (`onConnect` …), such as `fetch` of Node 20,
 * 22 and 24. Ours accept both generations; the dispatchers of other libraries may not.
 */
import { defineKind } from '../base/object/kind.ts'
import { InvalidArgumentError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { checkedHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { type ConnectionSnapshot, connectionsOf } from './connection-snapshot.ts'
import { type CloseCallback, Dispatcher } from './dispatcher.ts'
import { retireAll } from './end-all.ts'

/** The public name for anything that takes requests. */
export type DispatcherLike = Dispatching

/** A dispatcher that takes handlers of undici 6 and earlier, whatever the wrapped one takes. */
export class Dispatcher1Wrapper extends Dispatcher {
  readonly #dispatcher: Dispatching

  constructor(dispatcher: Dispatching) {
    if (typeof (dispatcher as Partial<Dispatching> | null | undefined)?.dispatch !== 'function') {
      throw new InvalidArgumentError('Argument dispatcher must implement dispatch')
    }
    super()
    this.#dispatcher = dispatcher
  }

  /** Wraps a handler of the older generation; one of the newer is returned unchanged. */
  static wrapHandler(handler: DispatchHandler | LegacyDispatchHandler): DispatchHandler {
    return checkedHandler(handler)
  }

  override dispatch(options: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    const wrapped = Dispatcher1Wrapper.wrapHandler(handler)
    // A WebSocket with such a handler knows only the handshake of HTTP/1.1.
    const older = wrapped !== handler && options.upgrade === 'websocket'
    const sent = older ? ({ ...options, allowH2: false } as DispatchOptions) : options
    return dispatchOn(this.#dispatcher, sent, wrapped)
  }

  /** As `retire()` of the wrapped one, if it has it. */
  retire(): void {
    retireAll([this.#dispatcher as Dispatcher])
  }

  /** As `connections()` of the wrapped one; none if it has no such method. */
  override connections(): ConnectionSnapshot[] {
    return connectionsOf(this.#dispatcher)
  }

  override close(callback: CloseCallback): void
  override close(): Promise<void>
  override close(...args: [] | [CloseCallback]): Promise<void> | void {
    return (this.#dispatcher as Dispatcher).close(...(args as [CloseCallback]))
  }

  override destroy(error: Error | null | undefined, callback: CloseCallback): void
  override destroy(callback: CloseCallback): void
  override destroy(error?: Error | null): Promise<void>
  override destroy(...args: unknown[]): Promise<void> | void {
    return (this.#dispatcher as Dispatcher).destroy(...(args as [null, CloseCallback]))
  }
}

defineKind(Dispatcher1Wrapper, 'ventuno.Dispatcher1Wrapper')
