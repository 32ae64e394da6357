/** Conformance data of other projects, which is not part of this one: `VENTUNO_VECTORS` names its folder. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder =
  process.env['VENTUNO_VECTORS'] ?? fileURLToPath(new URL('../../../shared/vectors', import.meta.url))

interface Loaded<T> {
  readonly data: T
  /** For the tests that need the data. */
  readonly skip: false | string
}

/** The content of a JSON file, or `none` if it is not there. */
export function loadVectors<T>(name: string, none: T): Loaded<T> {
  const file = join(folder, name)
  return existsSync(file)
    ? { data: JSON.parse(readFileSync(file, 'utf8')), skip: false }
    : { data: none, skip: `${name} is not here; VENTUNO_VECTORS names its folder` }
}
