/** Why a connection ends that was not to be used again, by us or by the peer. */
import { InformationalError } from '../errors.ts'

let reason: InformationalError | null = null

/** One for all: taking a stack costs more than all else that closing does, and this one says nothing. */
export function resetReason(): InformationalError {
  reason ??= new InformationalError('reset')
  return reason
}

/** Whether the peer has torn the connection down. */
export function isReset(error: Error | null): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ECONNRESET'
}
