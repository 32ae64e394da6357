/**
 * How a connection ended, as plain text for people. Errors of callers, and whatever may have a secret in it,
 * show no message; nothing refers to the error, which may refer to much.
 */
import { oneLine } from '../../base/text/one-line.ts'
import { UndiciError } from '../../errors.ts'
import type { EndKind, EndReason } from '../../request/end-reason.ts'
import { isOfRuntime } from '../../request/foreign-error.ts'

export interface LastEnd {
  readonly code: string
  readonly message: string | null
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Ends with a value of the caller, or of the caller's code. */
const OF_CALLERS: ReadonlySet<EndKind> = new Set<EndKind>(['aborted', 'foreign', 'broken'])

/** A server may send a text with its GOAWAY. */
const MOST_CHARACTERS = 200

export function lastEndOf({ kind, error, isCallers }: EndReason): LastEnd {
  const at = Date.now()
  try {
    const { code } = error as { code?: unknown }
    const isShown =
      !isCallers && !OF_CALLERS.has(kind) && (error instanceof UndiciError || isOfRuntime(error))
    return {
      code: typeof code === 'string' ? shortened(code) : kind,
      message: isShown ? shortened(error.message) : null,
      at,
    }
  } catch {
    // A caller may end a connection with any value.
    return { code: kind, message: null, at }
  }
}

function shortened(text: string): string {
  return oneLine(text).slice(0, MOST_CHARACTERS)
}
