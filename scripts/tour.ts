// `npm start`: a tour against origins embedded in this process, on loopback; it needs no network. With
// arguments, `npm start -- URL …`: the command `ventuno`.
import { run } from '../src/cli/command.ts'
import { tour } from './tour/tour.ts'

const { argv, env, stdin, stdout, stderr } = process
const rest = argv.slice(2)

process.exitCode =
  rest.length > 0 ? await run({ argv: rest, env, stdin, stdout, stderr }) : await tour(stdout, env)
