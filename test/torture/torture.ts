/**
 * Runs a scenario once to count its events, and then once for each event and each fault that may come with it;
 * if asked for, also with two faults at a time.
 */
import { Random } from '../chaos/random.ts'
import { applies, FAULTS, type Plan } from './fault.ts'
import type { Scenario, Stage, StageEvent } from './stage.ts'

export interface TortureOptions {
  /** Only each of this many plans, from the first on. */
  readonly every?: number
  /** So many runs with two faults, chosen by this seed. */
  readonly pairs?: number
  readonly seed?: number
}

export interface TortureResult {
  readonly events: number
  readonly runs: number
  /** What was wrong, with what leads to it again. */
  readonly failures: readonly string[]
}

/** Failures told of one scenario; the others are like them. */
const MOST_FAILURES = 5

export async function torture(
  scenario: Scenario,
  wire: string,
  make: (plans: readonly Plan[]) => Stage,
  { every = 1, pairs = 0, seed = 1 }: TortureOptions = {},
): Promise<TortureResult> {
  const stage = make([])
  const problems = await stage.run()
  for (const call of stage.calls) {
    // A scenario that fails by itself tests nothing.
    if (call.error !== null && scenario.expires !== true) problems.push(`${call.name}: ${call.error}`)
  }
  if (problems.length > 0) return { events: stage.events.length, runs: 1, failures: problems }

  const failures: string[] = []
  let runs = 1
  const singles = plansFor(stage).filter((_, index) => index % every === 0)
  for (const plans of [...singles, ...pairsFor(stage.events, pairs, new Random(seed))]) {
    runs++
    const found = await withoutTraces(() => make(plans).run())
    if (found.length === 0) continue
    const again = await make(plans).run()
    failures.push(`${scenario.name} over ${wire}, ${told(plans, stage.events)}:\n${again.join('\n')}`)
    if (failures.length === MOST_FAILURES) break
  }
  return { events: stage.events.length, runs, failures }
}

/** Where there is one call, it is also the last. */
function plansFor({ events, calls }: Stage): Plan[][] {
  const faults = calls.length > 1 ? FAULTS : FAULTS.filter((fault) => fault !== 'abort last')
  return events.flatMap(({ kind }, at) =>
    faults.filter((fault) => applies(fault, kind)).map((fault) => [{ fault, at }]),
  )
}

/** The second may fall on another event than in the first run: what follows a fault is different. */
function pairsFor(events: readonly StageEvent[], count: number, random: Random): Plan[][] {
  return Array.from({ length: count }, () => {
    const at = random.below(events.length)
    const fault = random.pick(FAULTS.filter((each) => applies(each, events[at]!.kind)))
    return [
      { fault, at },
      { fault: random.pick(FAULTS), at: at + 1 + random.below(6) },
    ]
  })
}

function told(plans: readonly Plan[], events: readonly StageEvent[]): string {
  return plans
    .map(({ fault, at }) => `${fault} at event ${at} (${events[at]?.name ?? 'a later one'})`)
    .join(', ')
}

/** Thousands of errors are made, and hardly one is printed. */
async function withoutTraces<T>(run: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
