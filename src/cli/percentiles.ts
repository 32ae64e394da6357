/** Statistics of many latencies: milliseconds, sorted. */

/** The smallest value that this share of all does not exceed (nearest rank). */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}

/** Null when there is nothing to sum up. */
export function summarise(sorted: Float64Array) {
  if (sorted.length === 0) return null
  return {
    min: sorted[0]!,
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    p50: percentile(sorted, 0.5),
    p75: percentile(sorted, 0.75),
    p90: percentile(sorted, 0.9),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    p999: percentile(sorted, 0.999),
    max: sorted.at(-1)!,
  }
}
