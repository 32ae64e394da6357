/** Why a connection ends that was not to be used again. */
import { InformationalError } from '../errors.ts'

let reason: InformationalError | null = null

/** One for all: taking a stack costs more than all else that closing does, and this one says nothing. */
export function resetReason(): InformationalError {
  reason ??= new InformationalError('reset')
  return reason
}
