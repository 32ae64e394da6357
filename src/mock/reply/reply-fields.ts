/**
 * Header and trailer fields of a reply: checked like those of a request, and merged by name in any letter case.
 */
import { InvalidArgumentError } from '../../errors.ts'
import { isFieldValue } from '../../protocol/ascii.ts'
import { HeaderBlock } from '../../protocol/header-block.ts'
import { isFieldName } from '../../protocol/header-names.ts'
import { eachField } from '../match/header-matcher.ts'

interface Field {
  readonly name: string
  readonly values: string[]
}

/** Fields by lower-case name, in order. */
export class ReplyFields {
  readonly #fields = new Map<string, Field>()

  /** Throws for a field that could not be sent. */
  static read(headers: unknown): ReplyFields {
    const fields = new ReplyFields()
    if (headers === undefined || headers === null) return fields
    if (typeof headers !== 'object') throw new InvalidArgumentError('headers must be an object or an array')
    eachField(headers, (name, value) => {
      if (!isFieldName(name)) throw new InvalidArgumentError('invalid header key')
      if (value === undefined) return
      for (const one of Array.isArray(value) ? value : [value]) fields.#add(name, String(one ?? ''))
    })
    return fields
  }

  get isEmpty(): boolean {
    return this.#fields.size === 0
  }

  has(lower: string): boolean {
    return this.#fields.has(lower)
  }

  /** The field alone, in place of earlier ones of this name. */
  set(name: string, value: string): void {
    this.#fields.set(name.toLowerCase(), { name, values: [value] })
  }

  /** These fields, and of the others those with names that these do not have. */
  over(others: ReplyFields): ReplyFields {
    if (others.isEmpty) return this
    const merged = new ReplyFields()
    for (const [lower, field] of others.#fields) merged.#fields.set(lower, field)
    for (const [lower, field] of this.#fields) {
      merged.#fields.delete(lower)
      merged.#fields.set(lower, field)
    }
    return merged
  }

  toBlock(): HeaderBlock {
    const flat: string[] = []
    for (const { name, values } of this.#fields.values()) for (const value of values) flat.push(name, value)
    return flat.length === 0 ? HeaderBlock.EMPTY : new HeaderBlock(flat)
  }

  #add(name: string, value: string): void {
    if (!isFieldValue(value)) throw new InvalidArgumentError(`invalid ${name} header`)
    const lower = name.toLowerCase()
    const field = this.#fields.get(lower)
    if (field === undefined) this.#fields.set(lower, { name, values: [value] })
    else field.values.push(value)
  }
}
