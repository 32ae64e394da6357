/**
 * Owns the default export. It has a name, since the meaning of a default import depends on both modules'
 * kinds.
 */
import * as surface from './surface.ts'

/** Everything the package exports, under the same names. */
export const ventuno: typeof surface = { ...surface }
