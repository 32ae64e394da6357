/** The requests that went through a mock agent, in order. */
import { isRegExp } from 'node:util/types'
import { defineKind } from '../../base/object/kind.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { testPattern } from '../match/text-matcher.ts'
import { MockCallHistoryLog } from './call-history-log.ts'

/** A string is equal, a RegExp tests; `null` and `undefined` are equal to themselves. */
export type FilterCallsParameter = string | RegExp | undefined | null

/** Conditions by property. */
export interface FilterCallsObjectCriteria extends Record<string, FilterCallsParameter> {
  /** `http:` or `https:`. */
  protocol?: FilterCallsParameter
  /** The host, with a port that is not the default. */
  host?: FilterCallsParameter
  /** The port as text; empty for the default. */
  port?: FilterCallsParameter
  /** Protocol, host and port. */
  origin?: FilterCallsParameter
  /** The path without the query. */
  path?: FilterCallsParameter
  /** The fragment, with its `#`. */
  hash?: FilterCallsParameter
  /** The URL with query and fragment. */
  fullUrl?: FilterCallsParameter
  /** The method as the caller gave it. */
  method?: FilterCallsParameter
}

/** Options of `filterCalls`. */
export interface FilterCallsOptions {
  /** Whether one condition is enough, in any letter case. Default: `OR`. */
  operator?: 'AND' | 'OR' | 'and' | 'or' | undefined
}

const SEARCHED = ['protocol', 'host', 'port', 'origin', 'path', 'hash', 'fullUrl', 'method'] as const
type Searched = (typeof SEARCHED)[number]

/**
 * The requests that went through a mock agent.
 *
 * @example
 * const agent = new MockAgent({ enableCallHistory: true })
 * agent.getCallHistory().filterCallsByMethod('POST')
 */
export class MockCallHistory {
  readonly #logs: MockCallHistoryLog[] = []

  /** Adds a request, and returns its log. */
  record(options: DispatchOptions): MockCallHistoryLog {
    const log = new MockCallHistoryLog(options)
    this.#logs.push(log)
    return log
  }

  /** All calls. */
  calls(): MockCallHistoryLog[] {
    return [...this.#logs]
  }

  /** The first call. */
  firstCall(): MockCallHistoryLog | undefined {
    return this.#logs[0]
  }

  /** The latest call. */
  lastCall(): MockCallHistoryLog | undefined {
    return this.#logs.at(-1)
  }

  /** The call at this position; the first is 1. */
  nthCall(position: number): MockCallHistoryLog | undefined {
    const need = (isMet: boolean, what: string): void => {
      if (!isMet) throw new InvalidArgumentError(`nthCall must be called with ${what}`)
    }
    need(typeof position === 'number', 'a number')
    need(Number.isInteger(position), 'an integer')
    need(position > 0, 'a positive value. use firstCall or lastCall instead')
    return this.#logs[position - 1]
  }

  /** The calls that a function accepts, whose text a RegExp matches, or that fulfil conditions. */
  filterCalls(
    criteria: ((log: MockCallHistoryLog) => unknown) | RegExp | FilterCallsObjectCriteria,
    options?: FilterCallsOptions | null,
  ): MockCallHistoryLog[] {
    if (typeof criteria === 'function') return this.#logs.filter((log) => Boolean(criteria(log)))
    if (isRegExp(criteria)) return this.#logs.filter((log) => testPattern(criteria, log.toString()))
    if (typeof criteria !== 'object' || criteria === null) {
      throw new InvalidArgumentError('criteria parameter should be one of function, regexp, or object')
    }
    if (Object.keys(criteria).length === 0) return this.calls()
    const every = isEvery(options)
    const names = SEARCHED.filter((name) => Object.hasOwn(criteria, name))
    for (const name of names) checkParameter(name, criteria[name])
    if (names.length === 0) return []
    return this.#logs.filter((log) => {
      const fulfils = (name: Searched): boolean => isEqual(criteria[name], log[name])
      return every ? names.every(fulfils) : names.some(fulfils)
    })
  }

  /** The calls with this protocol. */
  filterCallsByProtocol(protocol: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ protocol })
  }

  /** The calls to this host, with its port unless it is the default one. */
  filterCallsByHost(host: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ host })
  }

  /** The calls to this port; empty for the default one. */
  filterCallsByPort(port: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ port })
  }

  /** The calls to this origin. */
  filterCallsByOrigin(origin: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ origin })
  }

  /** The calls with this path, which has no query. */
  filterCallsByPath(path: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ path })
  }

  /** The calls with this fragment, which starts with `#`. */
  filterCallsByHash(hash: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ hash })
  }

  /** The calls to this URL. */
  filterCallsByFullUrl(fullUrl: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ fullUrl })
  }

  /** The calls with this method. */
  filterCallsByMethod(method: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ method })
  }

  /** Forgets all calls. */
  clear(): void {
    this.#logs.length = 0
  }

  /** All calls, in order. */
  *[Symbol.iterator](): Generator<MockCallHistoryLog> {
    yield* this.calls()
  }
}
defineKind(MockCallHistory, 'ventuno.MockCallHistory')

function isEvery(options: FilterCallsOptions | null | undefined): boolean {
  if (options === undefined || options === null || options.operator === undefined) return false
  const operator: unknown = options.operator
  const name = typeof operator === 'string' ? operator.toUpperCase() : ''
  if (name !== 'OR' && name !== 'AND') {
    throw new InvalidArgumentError(
      "options.operator must to be a case insensitive string equal to 'OR' or 'AND'",
    )
  }
  return name === 'AND'
}

function checkParameter(name: string, value: unknown): void {
  if (value === null || value === undefined || typeof value === 'string' || isRegExp(value)) return
  throw new InvalidArgumentError(`${name} parameter should be one of string, regexp, undefined or null`)
}

function isEqual(wanted: unknown, value: string): boolean {
  return isRegExp(wanted) ? testPattern(wanted, value) : wanted === value
}

/** The types under the names that programs written for undici use. */
export declare namespace MockCallHistory {
  export type FilterCallsOperator = 'AND' | 'OR'
  export type FilterCallsFunctionCriteria = (log: MockCallHistoryLog) => boolean
  export type { FilterCallsObjectCriteria, FilterCallsOptions, FilterCallsParameter }
}
