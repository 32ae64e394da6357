/** Whether requests that match no interceptor may go to the network. */

import { isRegExp } from 'node:util/types'
import { parseUrl } from '../base/address/parse-url.ts'
import { InvalidArgumentError } from '../errors.ts'
import { matchesText, type TextMatcher } from './match/text-matcher.ts'

type Permission = 'all' | 'none' | readonly TextMatcher[]

export class NetConnect {
  #permission: Permission = 'all'

  /** Without a matcher: any host. Matchers add up. */
  enable(matcher?: unknown): void {
    if (!['undefined', 'string', 'function'].includes(typeof matcher) && !isRegExp(matcher)) {
      throw new InvalidArgumentError('Unsupported matcher. Must be one of String|Function|RegExp.')
    }
    const earlier = typeof this.#permission === 'string' ? [] : this.#permission
    this.#permission = matcher === undefined ? 'all' : [...earlier, matcher as TextMatcher]
  }

  disable(): void {
    this.#permission = 'none'
  }

  /** Why a request to this origin may not go to the network; null if it may. */
  refusal(origin: string): string | null {
    const permission = this.#permission
    if (permission === 'all') return null
    if (permission === 'none') return 'net.connect disabled'
    const { host } = parseUrl(origin)
    const isAllowed = permission.some((matcher) => matchesText(matcher, host))
    return isAllowed ? null : 'net.connect is not enabled for this origin'
  }
}
