/** Waiting for what another program does, by asking again and again. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** Far above what any condition here needs; a machine may be very slow. */
const LIMIT = 60_000

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + LIMIT
  while (!(await holds())) {
    if (performance.now() > limit) assert.fail(`never became true: ${what}`)
    await pause(20)
  }
}
