/**
 * The events of a public client: what its session reports, for those who listen.
 */
import type { EventEmitter } from 'node:events'
import { emitSafely } from '../events.ts'
import type { SessionOwner } from './session-owner.ts'

/** For a pool whose factory made the client. Not one of the public events, hence no string. */
export const CAPACITY_KNOWN: unique symbol = Symbol('capacity known')

/** `onIdle`: for the dispatcher that made the client, and forgets it when it is idle. */
export function clientEvents(client: EventEmitter, url: URL, onIdle: () => void): SessionOwner {
  const emit = (event: string | symbol, ...args: unknown[]): void => emitSafely(client, event, ...args)
  return {
    onConnected: () => emit('connect', url, [client]),
    onDisconnected: ({ error }) => emit('disconnect', url, [client], error),
    onUnreachable: (requests) => requests,
    onConnectFailed: ({ error }) => emit('connectionError', url, [client], error),
    onRoom() {
      // With each response, and few listen.
      if (client.listenerCount('drain') > 0) emit('drain', url, [client])
    },
    onCapacityKnown: () => emit(CAPACITY_KNOWN),
    onIdle,
    onPing: (milliseconds) => emit('ping', milliseconds),
    onHandlerError: (error) => emit('error', error),
  }
}
