/** The result of a chaos run. */
export interface ChaosReport {
  readonly seed: number
  readonly wire: string
  readonly requests: number
  readonly succeeded: number
  /** Requests that have not settled. */
  readonly lost: number
  readonly connections: number
  /** The faults, and how often each was injected. */
  readonly faults: ReadonlyMap<string, number>
  /** The same for two runs of the same seed; 0 if the machine influences the order. */
  readonly trace: number
  readonly problems: readonly string[]
}

export function faultCount({ faults }: ChaosReport): number {
  let count = 0
  for (const times of faults.values()) count += times
  return count
}

export function summary(report: ChaosReport): string {
  const { seed, wire, requests, succeeded, lost, connections } = report
  return `seed ${seed} over ${wire}: ${requests} requests, ${succeeded} succeeded, ${lost} lost, ${faultCount(report)} faults, ${connections} connections`
}
