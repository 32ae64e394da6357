/** What has become of a response body. */

/**
 * What somebody does with the body beside streaming it.
 * - `none`: nothing yet
 * - `asked`: `text()` was called and begins with the next microtask, so that listeners attached after it are told, too
 * - `collecting`: whoever called `text()` gets all that comes
 * - `collected`: and has got it
 * - `iterating`: what has arrived is handed out piece by piece
 * - `dumping`: what comes is thrown away as it comes
 * - `dumped`: all is thrown away, or the running stream is being emptied
 */
export type Use = 'none' | 'asked' | 'collecting' | 'collected' | 'iterating' | 'dumping' | 'dumped'

/** How it failed. */
export interface Failure {
  readonly reason: unknown
  /** Not to be kept from a process that does not listen for it. */
  readonly isLoud: boolean
}
