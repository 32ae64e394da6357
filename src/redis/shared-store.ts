/**
 * A store that several processes share through scripts. Each script runs on one key, takes the time from the
 * server, and is atomic.
 */
import { InvalidArgumentError } from '../errors.ts'
import { type Check, integerFrom, isString, oneOf, option, readOptions } from '../options.ts'
import { type RedisClient, type ScriptClient, scriptClient } from './redis-client.ts'
import { StoreAnswers } from './store-answers.ts'

/** What a process does while the store does not answer. */
export type WithoutStore = 'open' | 'closed' | 'local'

/** The store that `throttle` and `circuitBreaker` share with other processes. */
export interface SharedStoreOptions {
  /** A connected client of the `redis` or `ioredis` package, or an object with `eval` like them. */
  client: RedisClient | ScriptClient
  /** What all keys begin with. Default: `ventuno:`. */
  prefix?: string | null | undefined
  /** Milliseconds after which the store counts as away. Default: 250. */
  timeout?: number | null | undefined
  /**
   * What holds while it is away: no limit (`open`), nothing is sent (`closed`), or the share of this process
   * (`local`). Default: `local`.
   */
  without?: WithoutStore | null | undefined
}

/** How long a store that is away is left alone. */
const REST_MS = 500

const NO_CLIENT = 'store.client must be a client of redis or ioredis, or have eval'

const TABLE = {
  client: option<RedisClient | ScriptClient | null>(
    null,
    (client) => scriptClient(client) !== null,
    NO_CLIENT,
  ),
  prefix: option('ventuno:', isString, 'store.prefix must be a string'),
  timeout: option(250, integerFrom(1), 'store.timeout must be a positive integer'),
  without: option<WithoutStore>(
    'local',
    oneOf('open', 'closed', 'local'),
    'store.without must be open, closed or local',
  ),
}

/** For an option `store`. */
export const isStore: Check = (value) => typeof value === 'object'

export class SharedStore {
  readonly without: WithoutStore
  readonly #client: ScriptClient
  readonly #prefix: string
  readonly #answers: StoreAnswers

  constructor(options: SharedStoreOptions) {
    const { client, prefix, timeout, without } = readOptions(TABLE, options)
    if (client === null) throw new InvalidArgumentError(NO_CLIENT)
    this.#client = scriptClient(client)!
    this.#prefix = prefix
    this.#answers = new StoreAnswers(timeout, REST_MS, true)
    this.without = without
  }

  /** It has failed a moment ago. */
  get isResting(): boolean {
    return this.#answers.isResting
  }

  /** The answer of a script. `onLate` gets one that comes after the promise has been rejected. */
  run(
    script: string,
    key: string,
    args: readonly (string | number)[],
    onLate?: (answer: unknown) => void,
  ): Promise<unknown> {
    const call = (): unknown => this.#client.eval(script, this.#prefix + key, args.map(String))
    return this.#answers.within(Promise.resolve().then(call), onLate)
  }
}
