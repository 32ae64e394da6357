// The time that the host of a virtual machine took from its cores: noise that no median removes.
import { readFileSync } from 'node:fs'

/** Fields of a line "cpuN …" in /proc/stat that add up to all its time; the last of them is stolen time. */
const FIELDS = 8

/** Starts counting; the result returns the stolen share of the most disturbed core since then, from 0 to 1. */
export function stealMeter() {
  const from = readCores()
  return () => {
    const shares = readCores().map(
      ({ stolen, all }, i) => (stolen - from[i].stolen) / (all - from[i].all || 1),
    )
    return Math.max(0, ...shares)
  }
}

function readCores() {
  const lines = readFileSync('/proc/stat', 'utf8').match(/^cpu\d.*$/gm) ?? []
  return lines.map((line) => {
    const ticks = line
      .split(/\s+/)
      .slice(1, 1 + FIELDS)
      .map(Number)
    return { stolen: ticks[FIELDS - 1], all: ticks.reduce((sum, value) => sum + value, 0) }
  })
}
