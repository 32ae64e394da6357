#!/usr/bin/env node
/** The command `ventuno`: runs command.ts with the streams of the process, or answers `--help` by itself. */
import { information } from './information.ts'
import { parseOptions } from './options.ts'

const { argv, env, stdin, stdout, stderr } = process

// A reader that stops early (`ventuno … | head`) is not a failure, and no message can reach it any more.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const words = argv.slice(2)
let text: string | null = null
try {
  text = information(parseOptions(words))
} catch {
  // The command reports what is wrong with the options.
}
if (text === null) {
  const { run } = await import('./command.ts')
  process.exitCode = await run({ argv: words, env, stdin, stdout, stderr })
} else stdout.write(text)
