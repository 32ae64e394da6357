/** The options of a mock agent. */
import { ownMembers } from '../base/object/own-options.ts'
import type { AgentOptions } from '../dispatcher/agent.ts'
import { type ClientOptions, type ClientSettings, readClientOptions } from '../dispatcher/client-options.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { withoutLimits } from '../dispatcher/places/limit-options.ts'
import { type PoolOptions, readPoolOptions } from '../dispatcher/pool/options.ts'
import { InvalidArgumentError } from '../errors.ts'
import { ownOptions } from '../options.ts'
import type { WireProtocol } from './wire/wire-step.ts'

/** Options of `MockAgent`: those of `Agent`, for the requests that are sent, and its own. */
export interface MockAgentOptions extends AgentOptions {
  /** Carries the requests that are sent. Default: an `Agent` with the same options. */
  agent?: Dispatcher | undefined
  /** Keep a history of calls from the beginning. Default: false. */
  enableCallHistory?: boolean | undefined
  /** Read `a[]=1` as `a=1`, and `a=1,2` as `a=1&a=2`. Default: false. */
  acceptNonStandardSearchParameters?: boolean | undefined
  /** Ignore slashes at the end of paths. Default: false. */
  ignoreTrailingSlash?: boolean | undefined
  /**
   * On disposal (`await using`), fail if an interceptor is pending or a request was unmatched. Default:
   * false.
   */
  strict?: boolean | undefined
  /** Send all replies as bytes, through connections in memory and the HTTP engine. Default: false. */
  wire?: boolean | undefined
  /** What connections in memory speak. Default: `h1`. */
  protocol?: WireProtocol | undefined
}

const FLAGS = [
  'enableCallHistory',
  'acceptNonStandardSearchParameters',
  'ignoreTrailingSlash',
  'strict',
  'wire',
] as const

export interface MockAgentSettings extends Readonly<Record<(typeof FLAGS)[number], boolean>> {
  readonly protocol: WireProtocol
  /** For the clients of connections in memory. */
  readonly clientOptions: ClientOptions
  /** The same with defaults: limits and timeouts also hold for mocked requests. */
  readonly client: ClientSettings & { readonly authority: '' }
  /** Null for a new one. */
  readonly agent: Dispatcher | null
  /** For the agent that sends requests. */
  readonly agentOptions: AgentOptions
  /** For the pools of origins. */
  readonly poolOptions: PoolOptions
}

export function readMockAgentOptions(given: MockAgentOptions): MockAgentSettings {
  if (given === null) throw new TypeError('options must not be null')
  const { agent = null, protocol = 'h1', ...others } = ownOptions(given)
  const options: MockAgentOptions = ownMembers(others)
  if (agent !== null && typeof agent.dispatch !== 'function') {
    throw new InvalidArgumentError('Argument opts.agent must implement Agent')
  }
  const flags: Partial<Record<(typeof FLAGS)[number], boolean>> = {}
  for (const name of FLAGS) {
    const { [name]: flag = false } = options
    if (typeof flag !== 'boolean') {
      throw new InvalidArgumentError(`options.${name} must to be a boolean`)
    }
    flags[name] = flag
    delete options[name]
  }
  if (protocol !== 'h1' && protocol !== 'h2') {
    throw new InvalidArgumentError("options.protocol must be 'h1' or 'h2'")
  }
  const { maxOrigins: _, factory: __, ...rest } = options
  const poolOptions = ownMembers(withoutLimits(rest))
  const { clientOptions } = readPoolOptions(poolOptions)
  return {
    ...(flags as Required<typeof flags>),
    protocol,
    clientOptions,
    client: { ...readClientOptions(clientOptions), authority: '' },
    agent,
    agentOptions: options,
    poolOptions,
  }
}
