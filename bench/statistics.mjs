// Median and spread, and ratios of runs that are adjacent in time.
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return { median: median(sorted), min: sorted[0], max: sorted.at(-1) }
}

function median(sorted) {
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * How many times better the subject is, from one ratio for each round: a machine that is slow for a while is
 * slow for both. Above 1 the subject is better, for metrics of either direction.
 */
export function advantage(subject, other, better) {
  const ratios = []
  for (let round = 0; round < subject.length; round++) {
    if (subject[round] === undefined || other[round] === undefined) continue
    const ratio = subject[round] / other[round]
    ratios.push(better === 'more' ? ratio : 1 / ratio)
  }
  return ratios.length === 0 ? null : summary(ratios)
}
