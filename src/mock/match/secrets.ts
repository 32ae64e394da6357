/** What messages and files of mocks show in place of secrets. */
import { isSecretField } from '../../base/secret-names.ts'

/** The length in place of a secret, which may be in any form that a caller gives. */
export function shownValue<T>(name: string, value: T): T | string | string[] {
  if (!isSecretField(name)) return value
  return Array.isArray(value) ? value.map((one) => lengthOf(String(one))) : lengthOf(String(value))
}

/** By name; secrets as their lengths. */
export function shownFields(fields: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(fields).map(([name, value]) => [name, shownValue(name, value)])
  return Object.fromEntries(shown) as Record<string, string>
}

/**
 * A path with the lengths of the values in its query, also of those without a name: whatever they are called, one of them
 * may be a token. The fragment is left out.
 */
export function shownQuery(path: string): string {
  const [before, query] = path.split('#', 1)[0]!.split(/\?(.*)/s) as [string, string?]
  if (query === undefined) return before
  return `${before}?${query.replace(/[^&]+/g, shownParameter)}`
}

function shownParameter(parameter: string): string {
  const equals = parameter.indexOf('=')
  return parameter.slice(0, equals + 1) + lengthOf(parameter.slice(equals + 1))
}

function lengthOf(value: string): string {
  return `<${value.length} characters>`
}
