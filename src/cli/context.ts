import type { Readable } from 'node:stream'
import type { Environment, Output } from './text-layout.ts'

/** The parts of a process that the command uses. */
export interface CommandContext {
  /** Without the runtime and the script. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  /** Calls the listener when the user wants it to end, until the returned function is called. */
  readonly onInterrupt?: (listener: () => void) => () => void
}
