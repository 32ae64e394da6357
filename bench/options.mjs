// The command line of the benchmark.
import { parseArgs } from 'node:util'

export const USAGE = `npm run bench -- [options]

  --quick             the main scenarios and peers, short and twice: under a minute, a smoke test and no more
  --only a,b          scenarios by name or by the start of it ("h2c" is all of h2c-…); see --list
  --candidates a,b    only these candidates
  --rounds N          rounds of each scenario (default 5)
  --seconds S         measured seconds of each run (default 2)
  --warmup S          seconds before them, for the compiler (default 2)
  --retries N         how often a run is repeated that the host of a virtual machine disturbed (default 4)
  --together          the candidates of a round take turns of 0.2 s: compares the CPU time of builds where the machine's
                      speed changes; only for measurements of throughput
  --requests N        requests of the "million" scenarios, which run only by name (default 1,000,000)
  --json FILE         write the figures
  --svg FILE          write the bar chart
  --markdown FILE     write a table of ventuno beside undici
  --from FILE         measure nothing: --svg and --markdown from figures that --json wrote earlier
  --library DIR       measure this build instead of dist, and build nothing
  --baseline DIR      measure this older build too, as candidate "baseline"
  --no-install        install nothing; candidates that lack something are left out
  --micro             the micro benchmarks instead
  --list              names of the scenarios
`

const QUICK = { rounds: 2, seconds: 0.4, warmup: 0.8, retries: 0 }
const DEFAULTS = { rounds: 5, seconds: 2, warmup: 2, retries: 4 }

export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      candidates: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      warmup: { type: 'string' },
      retries: { type: 'string' },
      requests: { type: 'string' },
      together: { type: 'boolean', default: false },
      json: { type: 'string' },
      svg: { type: 'string' },
      markdown: { type: 'string' },
      from: { type: 'string' },
      library: { type: 'string' },
      baseline: { type: 'string' },
      'no-install': { type: 'boolean', default: false },
      micro: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const base = values.quick ? QUICK : DEFAULTS
  return {
    ...values,
    install: !values['no-install'],
    only: names(values.only),
    candidates: names(values.candidates),
    rounds: number(values, 'rounds', base.rounds),
    seconds: number(values, 'seconds', base.seconds),
    warmup: number(values, 'warmup', base.warmup),
    retries: number(values, 'retries', base.retries, 0),
    requests: number(values, 'requests', 1_000_000),
  }
}

function names(list) {
  return list === undefined ? null : list.split(',').filter((name) => name !== '')
}

function number(values, name, fallback, least = Number.MIN_VALUE) {
  if (values[name] === undefined) return fallback
  const value = Number(values[name])
  if (!(value >= least)) throw new Error(`--${name} takes a number ${least === 0 ? 'from' : 'above'} 0`)
  return value
}
