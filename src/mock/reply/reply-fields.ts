/** Header and trailer fields of a reply: checked like those of a request, merged by name in any case. */
import { InvalidArgumentError } from '../../errors.ts'
import { isFieldValue } from '../../protocol/ascii.ts'
import { HeaderBlock } from '../../protocol/header-block.ts'
import { isFieldName } from '../../protocol/header-names.ts'
import { eachField } from '../match/header-matcher.ts'

/** Name, value, name, value … Throws for a field that could not be sent. */
export function readReplyFields(headers: unknown): string[] {
  if (headers !== undefined && headers !== null && typeof headers !== 'object') {
    throw new InvalidArgumentError('headers must be an object or an array')
  }
  const flat: string[] = []
  for (const [name, value] of eachField(headers)) {
    if (!isFieldName(name)) throw new InvalidArgumentError('invalid header key')
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      const text = String(one ?? '')
      if (!isFieldValue(text)) throw new InvalidArgumentError(`invalid ${name} header`)
      flat.push(name, text)
    }
  }
  return flat
}

/** The fields, after those defaults whose names they do not have. */
export function withDefaults(fields: readonly string[], defaults: readonly string[]): readonly string[] {
  const names = new Set(fields.map((name, i) => (i % 2 === 0 ? name.toLowerCase() : '')))
  return [...defaults.filter((_, i) => !names.has(defaults[i - (i % 2)]!.toLowerCase())), ...fields]
}

export function toBlock(fields: readonly string[]): HeaderBlock {
  return fields.length === 0 ? HeaderBlock.EMPTY : new HeaderBlock([...fields])
}
