/** A dispatcher that the test drives, behind the deduplicate interceptor. */
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import {
  type DeduplicateOptions,
  type Dispatcher,
  type DispatchHandler,
  type DispatchOptions,
  interceptors,
} from '../../src/index.ts'
import { type Exchange, ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

export const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

export interface DeduplicateSetting {
  readonly base: ScriptedDispatcher
  readonly dispatcher: Dispatcher
  readonly exchanges: Exchange[]
  send(options?: Partial<DispatchOptions>, hooks?: Partial<DispatchHandler>): RecordingHandler
  /** Whether a second request is part of the first one. */
  shares(first: Partial<DispatchOptions>, second?: Partial<DispatchOptions>): boolean
}

export function deduplicating(options?: DeduplicateOptions): DeduplicateSetting {
  const base = new ScriptedDispatcher()
  const dispatcher = base.compose(interceptors.deduplicate(options))
  const send = (
    given: Partial<DispatchOptions> = {},
    hooks: Partial<DispatchHandler> = {},
  ): RecordingHandler => {
    const handler = new RecordingHandler(hooks)
    assert.equal(dispatcher.dispatch({ ...GET, ...given }, handler), true)
    return handler
  }
  return {
    base,
    dispatcher,
    exchanges: base.exchanges,
    send,
    shares: (first, second = first) => {
      const before = base.exchanges.length
      send(first)
      send(second)
      const sent = base.exchanges.splice(before)
      for (const exchange of sent) exchange.start().error(new Error('enough'))
      return sent.length === 1
    },
  }
}

export interface PendingMessage {
  readonly size: number
  readonly key: string
  readonly type: 'added' | 'removed'
}

/** The messages of the channel until the test ends. */
export function pendingMessages(t: TestContext): PendingMessage[] {
  const messages: PendingMessage[] = []
  const listener = (message: unknown): void => void messages.push(message as PendingMessage)
  channel('undici:request:pending-requests').subscribe(listener)
  t.after(() => void channel('undici:request:pending-requests').unsubscribe(listener))
  return messages
}
