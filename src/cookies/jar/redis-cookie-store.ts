/**
 * A jar that several processes share through Redis or Valkey. The jar stays what it is, synchronous and
 * complete; `sync()` exchanges what has changed since the last time, cookie by cookie, in one atomic step. Of
 * two changes of one cookie, the later exchange wins.
 */
import { defineKind } from '../../base/object/kind.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { SharedStore, type SharedStoreOptions } from '../../redis/shared-store.ts'
import { CookieJar } from './cookie-jar.ts'
import type { SerializedCookie } from './json.ts'

/** The options of RedisCookieStore. `prefix` is for one jar. */
export type RedisCookieStoreOptions = Omit<SharedStoreOptions, 'without'>

/** Each cookie as text, by what tells it from the others. */
type Cookies = ReadonlyMap<string, string>

/** Arguments: how many fields are removed, those, and the fields that are set, each with its value. */
const SYNC_SCRIPT = `
local removed = tonumber(ARGV[1])
for i = 2, removed + 1 do redis.call('HDEL', KEYS[1], ARGV[i]) end
for i = removed + 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('HGETALL', KEYS[1])
`

/**
 * Shares a jar among processes.
 *
 * @example
 * const store = new RedisCookieStore(jar, { client })
 * await store.sync()
 */
export class RedisCookieStore {
  readonly #jar: CookieJar
  readonly #store: SharedStore
  /** What the jar had after the last exchange of what the store has. */
  #common: Cookies = new Map()
  #running: Promise<void> | null = null

  constructor(jar: CookieJar, options: RedisCookieStoreOptions) {
    if (!(jar instanceof CookieJar)) throw new InvalidArgumentError('jar must be a CookieJar')
    this.#jar = jar
    this.#store = new SharedStore(options)
  }

  /**
   * Takes the cookies of the other processes into the jar, and gives them its own. Rejects if the store does
   * not answer; the next call makes up for it.
   */
  sync(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #exchange(): Promise<void> {
    const sent = cookiesOf(this.#jar)
    const removed = [...this.#common.keys()].filter((key) => !sent.has(key))
    const changed = [...sent].filter(([key, cookie]) => this.#common.get(key) !== cookie)
    const args = [removed.length, ...removed, ...changed.flat()]
    const stored = readStored(await this.#store.run(SYNC_SCRIPT, 'cookies', args))
    // What the jar has got meanwhile is for the next exchange.
    const current = cookiesOf(this.#jar)
    const isSame = (key: string): boolean => current.get(key) === sent.get(key)
    for (const [key, cookie] of sent) if (!stored.has(key) && isSame(key)) this.#jar.remove(filterOf(cookie))
    const news = [...stored].filter(([key, cookie]) => sent.get(key) !== cookie && isSame(key))
    this.#jar.addJSON({ version: 1, cookies: news.map(([, cookie]) => JSON.parse(cookie)) })
    const after = cookiesOf(this.#jar)
    this.#common = new Map(
      [...stored].flatMap(([key, cookie]) => {
        // What this jar does not take is left to the others.
        const common = isSame(key) ? after.get(key) : cookie
        return common === undefined ? [] : [[key, common]]
      }),
    )
  }
}

defineKind(RedisCookieStore, 'ventuno.RedisCookieStore')

/** When a cookie was last sent is for each process to know. */
function cookiesOf(jar: CookieJar): Cookies {
  return new Map(
    jar.toJSON().cookies.map((cookie) => {
      const { domain, hostOnly, name, path, creationTime } = cookie
      return [
        JSON.stringify([domain, hostOnly, name, path]),
        JSON.stringify({ ...cookie, lastAccessTime: creationTime }),
      ]
    }),
  )
}

function filterOf(text: string): { name: string; domain: string; path: string } {
  const { name, domain, path } = JSON.parse(text) as SerializedCookie
  return { name, domain, path }
}

/** Without what is no JSON: others may write there. */
function readStored(answer: unknown): Cookies {
  if (!Array.isArray(answer)) throw new TypeError('the store has no cookies')
  const stored = new Map<string, string>()
  for (let i = 0; i + 1 < answer.length; i += 2) {
    const [key, cookie] = [String(answer[i]), String(answer[i + 1])]
    try {
      JSON.parse(cookie)
      stored.set(key, cookie)
    } catch {
      // It stays where it is.
    }
  }
  return stored
}
