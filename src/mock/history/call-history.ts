/** The requests that went through a mock agent, in order. */
import { isRegExp } from 'node:util/types'
import { defineKind } from '../../base/object/kind.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { matchesText, testPattern } from '../match/text-matcher.ts'
import { MockCallHistoryLog } from './call-history-log.ts'

/** A string is equal, a RegExp tests; `null` and `undefined` are equal to themselves. */
export type FilterCallsParameter = string | RegExp | undefined | null

/** Options of `filterCalls`. */
export interface FilterCallsOptions {
  /** Whether one condition is enough, in any letter case. Default: `OR`. */
  operator?: 'AND' | 'OR' | 'and' | 'or' | undefined
}

const SEARCHED = ['protocol', 'host', 'port', 'origin', 'path', 'hash', 'fullUrl', 'method'] as const
type Searched = (typeof SEARCHED)[number]

const QUANTIFIERS: Readonly<Record<string, 'some' | 'every'>> = { OR: 'some', AND: 'every' }

/** Conditions by property of a log. */
export interface FilterCallsObjectCriteria
  extends Record<string, FilterCallsParameter>,
    Partial<Record<Searched, FilterCallsParameter>> {}

/** `filterCallsByHost('api.test')` and its siblings: the calls that have this property. */
type FiltersByProperty = {
  [N in Searched as `filterCallsBy${Capitalize<N>}`]: (wanted: FilterCallsParameter) => MockCallHistoryLog[]
}

const Filtering: new () => FiltersByProperty = class {} as never

/**
 * The requests that went through a mock agent.
 *
 * @example
 * const agent = new MockAgent({ enableCallHistory: true })
 * agent.getCallHistory().filterCallsByMethod('POST')
 */
export class MockCallHistory extends Filtering {
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
    const { operator = 'OR' } = options ?? {}
    const quantifier = typeof operator === 'string' ? QUANTIFIERS[operator.toUpperCase()] : undefined
    if (quantifier === undefined) {
      throw new InvalidArgumentError(
        "options.operator must to be a case insensitive string equal to 'OR' or 'AND'",
      )
    }
    const names = SEARCHED.filter((name) => Object.hasOwn(criteria, name))
    for (const name of names) checkParameter(name, criteria[name])
    if (names.length === 0) return []
    return this.#logs.filter((log) =>
      names[quantifier]((name) => criteria[name] === log[name] || matchesText(criteria[name], log[name])),
    )
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
for (const name of SEARCHED) {
  const method = `filterCallsBy${name[0]!.toUpperCase()}${name.slice(1)}`
  const value = function (this: MockCallHistory, wanted: FilterCallsParameter): MockCallHistoryLog[] {
    return this.filterCalls({ [name]: wanted })
  }
  Object.defineProperty(MockCallHistory.prototype, method, { value, writable: true, configurable: true })
}

function checkParameter(name: string, value: unknown): void {
  if (value === null || value === undefined || typeof value === 'string' || isRegExp(value)) return
  throw new InvalidArgumentError(`${name} parameter should be one of string, regexp, undefined or null`)
}

/** The types under the names that programs written for undici use. */
export declare namespace MockCallHistory {
  export type FilterCallsOperator = 'AND' | 'OR'
  export type FilterCallsFunctionCriteria = (log: MockCallHistoryLog) => boolean
  export type { FilterCallsObjectCriteria, FilterCallsOptions, FilterCallsParameter }
}
