/** What messages and files of mocks show in place of secrets. */
import { isSecretField } from '../../base/text/secret-names.ts'

/** Shows a secret as its length; the value may be a list. */
export function shownValue<T>(name: string, value: T): T | string | string[] {
  if (!isSecretField(name)) return value
  return Array.isArray(value) ? value.map((one) => lengthOf(String(one))) : lengthOf(String(value))
}

/** All fields, with secrets shown as their lengths. */
export function shownFields(fields: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(fields).map(([name, value]) => [name, shownValue(name, value)])
  return Object.fromEntries(shown) as Record<string, string>
}

/** A path with query values shown as their lengths: any of them may be a token. Leaves out the fragment. */
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
