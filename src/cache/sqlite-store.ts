/** A store in an SQLite database of the runtime, which several processes may share. */
import { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import { loadSqlite, type SqliteDatabase, type SqliteStatement } from '../base/lazy-modules.ts'
import { withoutPollution } from '../base/own-options.ts'
import { NotSupportedError } from '../errors.ts'
import { compressed, decompressed } from './body-compression.ts'
import { sizeOf } from './body-readers.ts'
import type { CacheGetResult, CacheKey, CacheValue, WholeStore } from './cache-store.ts'
import { checkKey, checkValue } from './check-key.ts'
import { EntryStream } from './entry-stream.ts'
import { readHead, writeHead } from './stored-head.ts'
import { varyMatches, varyText } from './vary.ts'

/** The options of SqliteCacheStore. */
export interface SqliteCacheStoreOptions {
  /** A file, or `:memory:`. Default: `:memory:`. */
  location?: string | undefined
  /** Most responses. Default: any number. */
  maxCount?: number | undefined
  /** Most bytes of one body, less than 2 GB. Default: 2000000000. */
  maxEntrySize?: number | undefined
  /** Bodies from this size on are compressed, where the runtime has zstd; text, JSON and XML always. Default: 1 MiB. */
  compressThreshold?: number | undefined
}

/** Raised with every change of the format: a database of another version is left alone. */
const TABLE = 'ventunoCacheV1'

/** Longer blobs are beyond SQLite. */
const MAX_BODY = 2_000_000_000

const MAX_VARIANTS = 32

/** SQLITE_BUSY and SQLITE_LOCKED: another process has the database. */
const LOCKED: ReadonlySet<unknown> = new Set([5, 6])

/**
 * Keeps responses in a database. All methods are synchronous. While another process has it locked, nothing is stored.
 *
 * @example
 * const store = new cacheStores.SqliteCacheStore({ location: 'cache.db' })
 */
export class SqliteCacheStore implements WholeStore {
  readonly #database: SqliteDatabase
  readonly #maxCount: number
  readonly #maxEntrySize: number
  readonly #compressThreshold: number
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(options?: SqliteCacheStoreOptions) {
    if (options !== undefined && (typeof options !== 'object' || options === null)) {
      throw new TypeError('SqliteCacheStore options must be an object')
    }
    const own = Object.assign(Object.create(null), withoutPollution(options)) as SqliteCacheStoreOptions
    this.#maxCount = limit(own, 'maxCount', Number.POSITIVE_INFINITY)
    this.#maxEntrySize = limit(own, 'maxEntrySize', MAX_BODY)
    this.#compressThreshold = limit(own, 'compressThreshold', 1024 * 1024)
    if (this.#maxEntrySize > MAX_BODY) {
      throw new TypeError('SqliteCacheStore options.maxEntrySize must be less than 2gb')
    }
    const { location = ':memory:' } = own
    if (typeof location !== 'string')
      throw new TypeError('SqliteCacheStore options.location must be a string')
    const sqlite = loadSqlite()
    if (sqlite === undefined)
      throw new NotSupportedError('SqliteCacheStore needs node:sqlite, which this runtime does not have')
    this.#database = new sqlite.DatabaseSync(location)
    this.#database.exec(`
      PRAGMA busy_timeout = 1000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS ${TABLE} (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        url TEXT NOT NULL,
        method TEXT NOT NULL,
        variant TEXT NOT NULL,
        head TEXT NOT NULL,
        body BLOB NOT NULL,
        encoding TEXT,
        deleteAt INTEGER NOT NULL,
        UNIQUE (url, method, variant)
      );
      CREATE INDEX IF NOT EXISTS ${TABLE}Time ON ${TABLE} (deleteAt);
      PRAGMA busy_timeout = 0;`)
  }

  /** The number of responses. */
  get size(): number {
    return Number(this.#run(`SELECT COUNT(*) AS total FROM ${TABLE}`).get()!['total'])
  }

  /** Most bytes of one body. */
  get maxEntrySize(): number {
    return this.#maxEntrySize
  }

  get(key: CacheKey): CacheGetResult | undefined {
    checkKey(key)
    // The newest first. Bodies are read when it is known which one is wanted.
    const rows = this.#run(
      `SELECT id, head FROM ${TABLE} WHERE url = ? AND method = ? AND deleteAt > ? ORDER BY id DESC`,
    ).all(urlOf(key), key.method, Date.now())
    for (const row of rows) {
      const value = readHead(row['head'] as string)
      if (value === null || !varyMatches(value.vary, key.headers)) continue
      const found = this.#run(`SELECT body, encoding FROM ${TABLE} WHERE id = ?`).get(row['id']!)
      if (found === undefined) return undefined
      const body = decompressed(found['body'] as Uint8Array, found['encoding'] as string | null)
      return body === null ? undefined : { ...value, body: [body] as unknown as Buffer }
    }
    return undefined
  }

  createWriteStream(key: CacheKey, value: CacheValue): Writable | undefined {
    checkKey(key)
    checkValue(value)
    return new EntryStream(this.#maxEntrySize, (body) => this.set(key, { ...value, body }))
  }

  /** Stores a complete response. */
  set(
    key: CacheKey,
    entry: CacheValue & { body?: readonly Buffer[] | Buffer | string | null | undefined },
  ): void {
    checkKey(key)
    checkValue(entry)
    const { body = [], ...value } = entry
    const blocks =
      typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : (body ?? [])
    if (sizeOf(blocks) > this.#maxEntrySize || this.#maxCount === 0) return
    const packed = compressed(blocks, value.headers, this.#compressThreshold)
    this.#unlessLocked(() => {
      const url = urlOf(key)
      const variant = varyText(value.vary)
      // One transaction: a process that is killed leaves all of it or nothing.
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        this.#run(`DELETE FROM ${TABLE} WHERE url = ? AND method = ? AND variant = ?`).run(
          url,
          key.method,
          variant,
        )
        this.#run(
          `INSERT INTO ${TABLE} (url, method, variant, head, body, encoding, deleteAt) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ).run(url, key.method, variant, writeHead(value), packed.body, packed.encoding, value.deleteAt)
        this.#run(
          `DELETE FROM ${TABLE} WHERE id IN (SELECT id FROM ${TABLE} WHERE url = ? ORDER BY id DESC LIMIT -1 OFFSET ${MAX_VARIANTS})`,
        ).run(url)
        this.#database.exec('COMMIT')
      } catch (error) {
        this.#database.exec('ROLLBACK')
        throw error
      }
      this.#prune()
    })
  }

  /** Replaces everything but the body, unless another response has taken the place of `previous`. */
  update(key: CacheKey, value: CacheValue, previous: CacheValue): void {
    checkKey(key)
    checkValue(value)
    this.#unlessLocked(() => {
      this.#run(`UPDATE ${TABLE} SET head = ?, deleteAt = ? WHERE url = ? AND method = ? AND head = ?`).run(
        writeHead(value),
        value.deleteAt,
        urlOf(key),
        key.method,
        writeHead(previous),
      )
    })
  }

  delete(key: CacheKey): void {
    checkKey(key)
    this.#unlessLocked(() => this.#run(`DELETE FROM ${TABLE} WHERE url = ?`).run(urlOf(key)))
  }

  /** Closes the database. */
  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  /** Responses past their time go first, then the oldest tenth. */
  #prune(): void {
    if (this.#maxCount === Number.POSITIVE_INFINITY || this.size <= this.#maxCount) return
    this.#run(`DELETE FROM ${TABLE} WHERE deleteAt <= ?`).run(Date.now())
    const { size } = this
    if (size <= this.#maxCount) return
    const excess = Math.max(Math.ceil(this.#maxCount / 10), size - this.#maxCount)
    this.#run(`DELETE FROM ${TABLE} WHERE id IN (SELECT id FROM ${TABLE} ORDER BY id LIMIT ?)`).run(excess)
  }

  #unlessLocked(call: () => unknown): void {
    try {
      call()
    } catch (error) {
      if (!LOCKED.has((error as { errcode?: unknown }).errcode)) throw error
    }
  }

  #run(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

function urlOf(key: CacheKey): string {
  return `${key.path} ${key.origin}`
}

function limit(
  options: SqliteCacheStoreOptions,
  name: 'maxCount' | 'maxEntrySize' | 'compressThreshold',
  fallback: number,
): number {
  const value = options[name]
  if (value === undefined || value === fallback) return fallback
  if (!Number.isInteger(value) || value < 0) {
    throw new TypeError(`SqliteCacheStore options.${name} must be a non-negative integer`)
  }
  return value
}
