#!/usr/bin/env node
/** The command `ventuno`: runs command.ts with the streams of the process, or answers `--help` by itself. */
import { setFlagsFromString } from 'node:v8'
import { information } from './information.ts'
import { parseOptions } from './options.ts'

const { argv, env, stdin, stdout, stderr } = process

// A reader that stops early (`ventuno … | head`) is not a failure, and no message can reach it any more.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  stderr.write(`cannot write to standard output: ${error.message}\n`)
  process.exit(1)
})
stderr.on('error', () => {})

/** The next Ctrl-C calls the listener; the one after it ends the process as usual. */
function onInterrupt(listener: () => void): () => void {
  process.once('SIGINT', listener)
  return () => process.off('SIGINT', listener)
}

// What a long transfer leaves behind dies young. Without room to grow, its memory is collected early; a version
// of V8 that does not know the word would say so on standard error.
if (Number.parseInt(process.versions.node, 10) <= 24) setFlagsFromString('--semi-space-growth-factor=1')

const words = argv.slice(2)
let text: string | null = null
try {
  text = information(parseOptions(words))
} catch {
  // The command reports what is wrong with the options.
}
if (text === null) {
  const { run } = await import('./command.ts')
  process.exitCode = await run({ argv: words, env, stdin, stdout, stderr, onInterrupt })
} else stdout.write(text)
