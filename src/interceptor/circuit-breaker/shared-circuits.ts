/**
 * The circuits that are open in a fleet: what opens in one process opens in all. Each process asks the store
 * a few times a second while it has requests. When a circuit may close again, each tries for itself; a trial
 * that fails opens it for all. While the store is away, each goes by what it has seen.
 */
import { now } from '../../base/loop/clock.ts'
import { startTimer } from '../../base/loop/timer.ts'
import type { SharedStore } from '../../redis/shared-store.ts'

/** Milliseconds between two questions: what is known elsewhere is known here within a fifth of a second. */
const INTERVAL = 125
/** After the last request the store is asked for so long. */
const IDLE_MS = 10_000

/**
 * The key is a hash: when each open circuit may be tried. Arguments: origins that have opened, each followed by
 * milliseconds. Returns the open ones: origin, its entry, milliseconds left.
 */
const CIRCUITS_SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], string.format('%d', now + ARGV[i + 1])) end
local all, open, last = redis.call('HGETALL', KEYS[1]), {}, 0
for i = 1, #all, 2 do
  local left = all[i + 1] - now
  if left <= 0 then redis.call('HDEL', KEYS[1], all[i])
  else
    open[#open + 1], open[#open + 2], open[#open + 3] = all[i], all[i + 1], string.format('%d', left)
    last = math.max(last, left)
  end
end
if last > 0 then redis.call('PEXPIRE', KEYS[1], string.format('%d', last)) end
return open
`

export class SharedCircuits {
  readonly #store: SharedStore
  readonly #onOpen: (origin: string, left: number) => void
  /** The entry of each circuit that was open at the last answer. */
  #known: ReadonlyMap<string, string> = new Map()
  /** Those that have opened here, with their time. */
  readonly #opened = new Map<string, number>()
  #usedAt = 0
  #state: 'idle' | 'waiting' | 'asking' = 'idle'

  /** `onOpen` is told of each circuit that another process has opened, with the milliseconds left. */
  constructor(store: SharedStore, onOpen: (origin: string, left: number) => void) {
    this.#store = store
    this.#onOpen = onOpen
  }

  /** A request begins. */
  onRequest(): void {
    this.#usedAt = now()
    if (this.#state === 'idle') this.#ask()
  }

  /** A circuit has opened here. */
  onOpened(origin: string, milliseconds: number): void {
    this.#opened.set(origin, milliseconds)
    if (this.#state !== 'asking') this.#ask()
  }

  #ask(): void {
    this.#state = 'asking'
    const opened = [...this.#opened].flat()
    this.#opened.clear()
    const answer = this.#store.isResting
      ? Promise.resolve(null)
      : this.#store.run(CIRCUITS_SCRIPT, 'circuits', opened)
    answer
      .then((open) => this.#onAnswer(open))
      .catch(() => {})
      .finally(() => this.#wait())
  }

  #onAnswer(open: unknown): void {
    if (!Array.isArray(open)) return
    const known = new Map<string, string>()
    for (let i = 0; i + 2 < open.length; i += 3) {
      const [origin, entry, left] = open.slice(i, i + 3).map(String) as [string, string, string]
      known.set(origin, entry)
      if (this.#known.get(origin) !== entry && Number(left) > 0) this.#onOpen(origin, Number(left))
    }
    this.#known = known
  }

  #wait(): void {
    if (this.#opened.size > 0) this.#ask()
    else if (now() - this.#usedAt > IDLE_MS) this.#state = 'idle'
    else {
      this.#state = 'waiting'
      const timer = startTimer(() => {
        if (this.#state === 'waiting') this.#ask()
      }, INTERVAL)
      timer.unref?.()
    }
  }
}
