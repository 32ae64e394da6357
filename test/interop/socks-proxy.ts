/** A program that is a SOCKS 5 proxy. */
import type { Stage } from './stage.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

export interface SocksProxy {
  readonly name: string
  /** Null if it is not installed. */
  readonly program: string | null
  /** Returns its URL. With credentials, it wants those. */
  start(stage: Stage, credentials: Credentials | null): Promise<string>
}
