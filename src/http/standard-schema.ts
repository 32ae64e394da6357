/**
 * Schemas of any library that has the interface of Standard Schema (https://standardschema.dev): only types,
 * and the one call of `validate`.
 */
import { InvalidArgumentError } from '../errors.ts'

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** What is wrong. */
  readonly message: string
  /** Where in the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What `validate` answers. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A schema of Zod, Valibot, ArkType and others. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

export function checkSchema(schema: unknown): void {
  if (schema === undefined) return
  const standard = (schema as Partial<StandardSchema> | null)?.['~standard']
  if (typeof standard?.validate !== 'function') {
    throw new InvalidArgumentError('schema must implement Standard Schema: it has no ~standard.validate')
  }
}

/** `user.name: expected string`, for the first few issues. */
export function shownIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 3).map(({ message, path }) => {
    const place = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return place ? `${place}: ${message}` : message
  })
  return shown.join('; ') + (issues.length > shown.length ? `; and ${issues.length - shown.length} more` : '')
}
