import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** An empty folder that is removed when the test ends. */
export function scratchFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
