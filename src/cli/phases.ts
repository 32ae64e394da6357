/**
 * From the moments of a request (`Timings`, and when its name was resolved) to the phases it went through,
 * and the bars that show them. Durations are milliseconds; null is a phase that did not take place.
 */
import type { Timings } from '../index.ts'
import { milliseconds, type Style, type TextLayout } from './text-layout.ts'

/** When a connection was asked for, and when the address of its host was known. */
export interface Dial {
  readonly started: number
  readonly resolved: number | null
}

type Phase = 'blocked' | 'dns' | 'connect' | 'tls' | 'send' | 'wait' | 'receive'

/** `connect` is TCP only. */
export interface Phases extends Readonly<Record<Phase, number | null>> {
  readonly total: number
}

/** The two times may come from different events: a negative difference counts as zero. */
const between = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from)

/** The phases of a request. A reused connection has no dial. */
export function phasesOf(timings: Timings, dial: Dial | null): Phases {
  const { queued, secured, sent, firstByte, end } = timings
  const isNew = timings.connect !== null && dial !== null
  const connected = timings.connect
  const ready = secured ?? connected ?? queued
  // A server may answer before it has seen all of the request.
  const written = firstByte === null ? sent : Math.min(sent ?? firstByte, firstByte)
  return {
    blocked: isNew ? between(queued, dial.started) : null,
    dns: isNew ? between(dial.started, dial.resolved) : null,
    connect: isNew ? between(dial.resolved ?? dial.started, connected) : null,
    tls: isNew ? between(connected, secured) : null,
    send: between(ready, written),
    // Without an answer, the rest of the time was waiting.
    wait: between(written, firstByte ?? end),
    receive: between(firstByte, end),
    total: between(queued, end ?? firstByte ?? sent ?? ready) ?? 0,
  }
}

/** The phases that the report shows; sending is part of waiting for the first byte. */
export function segments({ dns, connect, tls, send, wait, receive }: Phases) {
  const all: [string, Style, number | null][] = [
    ['dns', 'magenta', dns],
    ['connect', 'yellow', connect],
    ['tls', 'blue', tls],
    [receive === null ? 'waiting' : 'first byte', 'green', wait === null ? null : (send ?? 0) + wait],
    ['download', 'cyan', receive],
  ]
  return all.flatMap(([label, style, length]) => (length === null ? [] : [{ label, style, length }]))
}

const LABEL_WIDTH = 10
const VALUE_WIDTH = 9

/** Each phase on a line, with a bar from where it began to where it ended. */
export function waterfall(phases: Phases, layout: TextLayout): string[] {
  const parts = segments(phases)
  const room = layout.columns - LABEL_WIDTH - VALUE_WIDTH - 5
  const sum = parts.reduce((total, { length }) => total + length, 0)
  const scale = sum === 0 ? 0 : room / sum
  const line = (label: string, length: number): string =>
    `  ${label.padEnd(LABEL_WIDTH)} ${milliseconds(length).padStart(VALUE_WIDTH)}`
  let from = 0
  const lines = parts.map(({ label, style, length }) => {
    const begin = Math.min(Math.floor(from * scale), room - 1)
    const bar = layout.paint(style, solid(Math.min(length * scale, room - begin)))
    from += length
    return `${line(label, length)}  ${' '.repeat(begin)}${bar}`
  })
  return [...lines, layout.paint('bold', line('total', phases.total))]
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar of this many cells, at least an eighth of one. */
export function solid(length: number): string {
  const eighths = Math.max(1, Math.round(length * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!
}
