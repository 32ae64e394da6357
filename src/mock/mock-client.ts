/** A client whose requests interceptors reply to. */
import { defineKind } from '../base/object/kind.ts'
import { Client } from '../dispatcher/client.ts'
import type { ClientOptions } from '../dispatcher/client-options.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { type Mocking, mocking } from './mocking.ts'

/** Options of `MockClient`. */
export interface MockClientOptions extends ClientOptions {
  /** The mock agent that decides about requests without a match. */
  agent: Dispatcher
}

const MockedClient: Mocking<Client, ClientOptions> = mocking(Client)

/**
 * The interceptors of one origin, and a dispatcher for requests to it.
 *
 * @example
 * const client = new MockAgent({ connections: 1 }).get('http://api.test')
 * client.intercept({ path: '/' }).reply(200, 'hello')
 */
export class MockClient extends MockedClient {}
defineKind(MockClient, 'ventuno.MockClient')

/** The types under the names that programs written for undici use. */
export declare namespace MockClient {
  export type { MockClientOptions as Options }
}
