/**
 * Runs a scenario once to count its events, and then once for each event and each fault that may happen at it;
 * optionally also with two faults at a time.
 */
import { Random } from '../chaos/random.ts'
import { applies, FAULTS, INNER_FAULTS, isInner, type Plan } from './fault.ts'
import type { Scenario, Stage, StageEvent } from './stage.ts'

export interface TortureOptions {
  /** Runs only every nth plan, starting with this one. */
  readonly every?: number
  readonly first?: number
  /** Makes every nth internal call throw; none if absent. */
  readonly everyEdge?: number
  /** The number of runs with two faults, and the seed that chooses them. */
  readonly pairs?: number
  readonly seed?: number
}

export interface TortureResult {
  readonly events: number
  readonly runs: number
  /** The problems, with the plan that reproduces them. */
  readonly failures: readonly string[]
}

/** Failures reported for one scenario; the others are similar. */
const MOST_FAILURES = 5

export async function torture(
  scenario: Scenario,
  wire: string,
  make: (plans: readonly Plan[]) => Stage,
  { every = 1, first = 0, everyEdge = 0, pairs = 0, seed = 1 }: TortureOptions = {},
): Promise<TortureResult> {
  const stage = make([])
  const problems = await stage.run()
  for (const call of stage.calls) {
    // A scenario that fails without a fault tests nothing.
    if (call.error !== null && scenario.expires !== true) problems.push(`${call.name}: ${call.error}`)
  }
  if (problems.length > 0) return { events: stage.events.length, runs: 1, failures: problems }

  const failures: string[] = []
  let runs = 1
  const singles = plansFor(stage).filter((_, index) => index % every === first)
  const inner = innerPlansFor(stage, everyEdge)
  for (const plans of [...singles, ...inner, ...pairsFor(stage.events, pairs, new Random(seed))]) {
    runs++
    const found = await withoutTraces(() => make(plans).run())
    if (found.length === 0) continue
    const again = await make(plans).run()
    failures.push(`${scenario.name} over ${wire}, ${told(plans, stage)}:\n${again.join('\n')}`)
    if (failures.length === MOST_FAILURES) break
  }
  return { events: stage.events.length, runs, failures }
}

/** If there is only one call, it is also the last. */
function plansFor({ events, calls, memories, sources }: Stage): Plan[][] {
  const faults = FAULTS.filter((fault) => {
    if (fault === 'abort last') return calls.length > 1
    if (fault === 'destroy source') return sources.size > 0
    return fault !== 'take memory' || memories.size > 0
  })
  return events.flatMap(({ kind }, at) =>
    faults.filter((fault) => applies(fault, kind)).map((fault) => [{ fault, at }]),
  )
}

function innerPlansFor({ edges }: Stage, every: number): Plan[][] {
  if (every === 0) return []
  const plans = edges.flatMap((_, at) => INNER_FAULTS.map((fault) => [{ fault, at }]))
  return plans.filter((_, index) => index % every === 0)
}

/** The second fault may hit another event than in the first run, because the events after a fault differ. */
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

function told(plans: readonly Plan[], { events, edges }: Stage): string {
  const where = ({ fault, at }: Plan): string =>
    isInner(fault) ? `call ${at} (${edges[at]})` : `event ${at} (${events[at]?.name ?? 'a later one'})`
  return plans.map((plan) => `${plan.fault} at ${where(plan)}`).join(', ')
}

/** Thousands of errors are created, and hardly any is printed. */
async function withoutTraces<T>(run: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
