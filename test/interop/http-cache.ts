/** A third-party cache in front of an origin. */
import type { Stage } from './stage.ts'

export interface HttpCache {
  readonly name: string
  /** Null if it is not installed. */
  readonly program: string | null
  /** Whether it takes HTTP/2 over cleartext. */
  readonly takesH2c: boolean
  /** Whether it counts the time that it keeps a response in Age. */
  readonly addsAge: boolean
  /** Returns where it listens. Its member of Cache-Status has its name. */
  start(stage: Stage, originPort: number): Promise<{ readonly h1: string; readonly h2c: string }>
}
