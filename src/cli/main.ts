#!/usr/bin/env node
/** The command `ventuno`: gives the process's streams to command.ts. */
import { run } from './command.ts'

const { argv, env, stdin, stdout, stderr } = process

// A reader that has seen enough (`ventuno … | head`) is no failure; nothing can be told to it any more.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await run({ argv: argv.slice(2), env, stdin, stdout, stderr })
