import { type Origin, parseOrigin } from '../base/address/origin.ts'
import { InvalidArgumentError } from '../errors.ts'

/** The origin that a caller's URL names. Throws for anything else. */
export function checkedOrigin(url: unknown): Origin {
  const origin = parseOrigin(url)
  if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
  return origin
}
