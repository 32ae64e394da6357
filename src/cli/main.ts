#!/usr/bin/env node
/** The command `ventuno`: runs command.ts with the streams of the process. */
import { run } from './command.ts'

const { argv, env, stdin, stdout, stderr } = process

// A reader that stops early (`ventuno … | head`) is not a failure, and no message can reach it any more.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await run({ argv: argv.slice(2), env, stdin, stdout, stderr })
