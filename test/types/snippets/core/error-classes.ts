// Errors of one library handled by code for the other.
import { errors } from 'undici'
import { errors as undici } from 'undici8'

export const theirs: undici.UndiciError = new errors.UndiciError('x')
export const ours: errors.UndiciError = new undici.UndiciError('x')
export class Mine extends errors.UndiciError {
  override name = 'Mine'
  override code = 'MINE'
}
