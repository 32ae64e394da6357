/** What the command says about itself. It needs nothing of the library, which then is not loaded. */
import { readFileSync } from 'node:fs'
import { HELP } from './help.ts'
import type { Options } from './options.ts'

/** The text for `--help` or `--version`; null without them. */
export function information({ help, version }: Options): string | null {
  if (help) return HELP
  return version ? `ventuno ${packageVersion()}\n` : null
}

export function packageVersion(): string {
  // Two levels up from src/cli as from dist/cli.
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
