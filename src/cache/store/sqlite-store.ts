/** A store in an SQLite database of the runtime, which several processes may share. */

import type { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import {
  loadFs,
  loadSqlite,
  type SqliteDatabase,
  type SqliteModule,
  type SqliteStatement,
  type SqliteValue,
} from '../../base/node/lazy-modules.ts'
import { defineKind } from '../../base/object/kind.ts'
import { NotSupportedError } from '../../errors.ts'
import { codeOf } from '../../relay/error-facts.ts'
import { varyMatches, varyText } from '../rules/vary.ts'
import { compressed, decompressed } from './body-compression.ts'
import type { CacheGetResult, CacheKey, CacheValue, StoredBody, WholeStore } from './cache-store.ts'
import { entryStream } from './entry-stream.ts'
import { blocksOf, sizeOf } from './found.ts'
import { checkedUrl, completed, storeOptions, urlOf } from './store-arguments.ts'
import { reportStoreError, type StoreOperation } from './store-errors.ts'
import { readHead, writeHead } from './stored-head.ts'
import { UnwrittenDeletes } from './unwritten-deletes.ts'

/** The options of SqliteCacheStore. */
export interface SqliteCacheStoreOptions {
  /** A file, or `:memory:`. Default: `:memory:`. */
  location?: string | undefined
  /** Most responses. Default: any number. */
  maxCount?: number | undefined
  /** Most bytes of one body, less than 2 GB. Default: 2000000000. */
  maxEntrySize?: number | undefined
  /** From this size on bodies are compressed if there is zstd; text, JSON and XML always. Default: 1 MiB. */
  compressThreshold?: number | undefined
}

/** Raised with every change of the format: a database of another version is left alone. */
const TABLE = 'ventunoCacheV1'

/** Longer blobs are beyond SQLite. */
const MAX_BODY = 2_000_000_000

const DEFAULTS = {
  maxCount: Number.POSITIVE_INFINITY,
  maxEntrySize: MAX_BODY,
  compressThreshold: 1024 * 1024,
}

const MAX_VARIANTS = 32

/** How long the first process waits for another one that makes the table. */
const OPENING_MS = 1000

/** How long a removal waits for a lock that nobody waits for. */
const PATIENT_MS = 20

/** Responses past their time that go with one that is stored: a short transaction. */
const MAX_EXPIRED = 200

const SCHEMA = `
      PRAGMA busy_timeout = ${OPENING_MS};
      PRAGMA journal_mode = WAL;
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
      PRAGMA busy_timeout = 0;`

/** SQLITE_BUSY and SQLITE_LOCKED: another process has the database. */
const LOCKED: ReadonlySet<number> = new Set([5, 6])

/**
 * Keeps responses in a database. All methods are synchronous. While another process has it locked, nothing is
 * stored, and what could not be removed is a miss until it is.
 *
 * @example
 * const store = new cacheStores.SqliteCacheStore({ location: 'cache.db' })
 */
export class SqliteCacheStore implements WholeStore {
  readonly #database: SqliteDatabase
  readonly #limits: SqliteCacheStoreOptions & typeof DEFAULTS
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #deletes: UnwrittenDeletes

  constructor(options?: SqliteCacheStoreOptions) {
    this.#limits = storeOptions('SqliteCacheStore', options, DEFAULTS)
    if (this.#limits.maxEntrySize > MAX_BODY) {
      throw new TypeError('SqliteCacheStore options.maxEntrySize must be less than 2gb')
    }
    const { location = ':memory:' } = this.#limits
    if (typeof location !== 'string')
      throw new TypeError('SqliteCacheStore options.location must be a string')
    const sqlite = loadSqlite()
    if (sqlite === undefined)
      throw new NotSupportedError('SqliteCacheStore needs node:sqlite, which this runtime does not have')
    this.#database = open(sqlite, location)
    this.#deletes = new UnwrittenDeletes((key, patient) => this.#remove(key, patient), true)
  }

  /** The number of responses. */
  get size(): number {
    return Number(this.#run(`SELECT COUNT(*) AS total FROM ${TABLE}`).get()!['total'])
  }

  /** Most bytes of one body. */
  get maxEntrySize(): number {
    return this.#limits.maxEntrySize
  }

  get(key: CacheKey): CacheGetResult | undefined {
    const url = checkedUrl(key)
    if (this.#deletes.hides(key)) return undefined
    // The newest first. Bodies are read when it is known which one is wanted.
    const rows = this.#run(
      `SELECT id, head FROM ${TABLE} WHERE url = ? AND method = ? AND deleteAt > ? ORDER BY id DESC`,
    ).all(url, key.method, Date.now())
    for (const row of rows) {
      const value = readHead(row['head'] as string)
      if (value === null) return this.#discard(key)
      if (!varyMatches(value.vary, key.headers) || !this.#deletes.isTrusted(value)) continue
      const found = this.#run(`SELECT body, encoding FROM ${TABLE} WHERE id = ?`).get(row['id']!)
      if (found === undefined) return undefined
      const body = decompressed(found['body'] as Uint8Array, found['encoding'] as string | null)
      if (body === null) return this.#discard(key)
      return { ...value, etag: value.etag, vary: value.vary, body }
    }
    return undefined
  }

  /** Another program has written to the database, or a disk has failed. */
  #discard(key: CacheKey): undefined {
    reportStoreError('get', key, new Error('the stored response cannot be read'))
    this.delete(key)
  }

  createWriteStream(key: CacheKey, value: CacheValue): Writable | undefined {
    return entryStream(this, key, value)
  }

  /** Stores a complete response. */
  set(
    key: CacheKey,
    entry: CacheValue & { body?: readonly Buffer[] | Buffer | string | null | undefined },
  ): void {
    const url = checkedUrl(key, entry)
    const { body, ...value } = completed(entry)
    const blocks = blocksOf(body as StoredBody)!
    if (sizeOf(blocks) > this.#limits.maxEntrySize || this.#limits.maxCount === 0) return
    const packed = compressed(blocks, value.headers, this.#limits.compressThreshold)
    this.#unlessLocked('write', key, () => {
      if (!this.#deletes.admits(key)) return
      const variant = varyText(value.vary)
      const replaced = this.#replacedBy(key, variant)
      const write = (): void => {
        for (const id of replaced) this.#run(`DELETE FROM ${TABLE} WHERE id = ?`).run(id)
        this.#run(
          `INSERT OR REPLACE INTO ${TABLE} (url, method, variant, head, body, encoding, deleteAt) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ).run(url, key.method, variant, writeHead(value), packed.body, packed.encoding, value.deleteAt)
      }
      // One statement where that is enough: other processes wait for less.
      if (replaced.length === 0) write()
      else this.#together(write)
      this.#prune()
    })
  }

  /**
   * Besides the same variant: what would have answered this request, because the resource depends on other
   * fields now than it did; and the oldest, if there are too many.
   */
  #replacedBy(key: CacheKey, variant: string): SqliteValue[] {
    const rows = this.#run(
      `SELECT id, method, variant, head FROM ${TABLE} WHERE url = ? ORDER BY id DESC`,
    ).all(urlOf(key))
    const others = rows.filter((row) => row['method'] !== key.method || row['variant'] !== variant)
    const answers = (row: Record<string, unknown>): boolean =>
      row['method'] === key.method && varyMatches(readHead(row['head'] as string)?.vary, key.headers)
    const selected = others.find(answers)
    return others.filter((row, i) => row === selected || i >= MAX_VARIANTS - 1).map((row) => row['id']!)
  }

  /** One transaction: a process that is killed leaves all of it or nothing. */
  #together(run: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      run()
      this.#database.exec('COMMIT')
    } catch (error) {
      try {
        this.#database.exec('ROLLBACK')
      } catch {
        // SQLite has done it by itself, for example because the disk is full: the first error says why.
      }
      throw error
    }
  }

  /** Replaces everything but the body, unless another response has taken the place of `previous`. */
  update(key: CacheKey, value: CacheValue, previous: CacheValue): void {
    const url = checkedUrl(key, value)
    this.#unlessLocked('update', key, () => {
      this.#run(`UPDATE ${TABLE} SET head = ?, deleteAt = ? WHERE url = ? AND method = ? AND head = ?`).run(
        writeHead(completed(value)),
        value.deleteAt,
        url,
        key.method,
        writeHead(previous),
      )
    })
  }

  delete(key: CacheKey): void {
    checkedUrl(key)
    // One that has to wait is remembered, and the URL is a miss until then.
    this.#unlessLocked('delete', key, () => this.#deletes.delete(key))
  }

  #remove(key: CacheKey, patient: boolean): void {
    if (patient) this.#database.exec(`PRAGMA busy_timeout = ${PATIENT_MS}`)
    try {
      this.#run(`DELETE FROM ${TABLE} WHERE url = ?`).run(urlOf(key))
    } finally {
      if (patient) this.#database.exec('PRAGMA busy_timeout = 0')
    }
  }

  /** Closes the database. */
  close(): void {
    this.#deletes.stop()
    this.#statements.clear()
    this.#database.close()
  }

  /** Responses past their time go first, then the oldest tenth. */
  #prune(): void {
    const now = Date.now()
    if (this.#run(`SELECT 1 FROM ${TABLE} WHERE deleteAt <= ? LIMIT 1`).get(now) !== undefined) {
      this.#run(
        `DELETE FROM ${TABLE} WHERE id IN (SELECT id FROM ${TABLE} WHERE deleteAt <= ? LIMIT ${MAX_EXPIRED})`,
      ).run(now)
    }
    if (this.#limits.maxCount === Number.POSITIVE_INFINITY) return
    const { size } = this
    if (size <= this.#limits.maxCount) return
    const excess = Math.max(Math.ceil(this.#limits.maxCount / 10), size - this.#limits.maxCount)
    this.#run(`DELETE FROM ${TABLE} WHERE id IN (SELECT id FROM ${TABLE} ORDER BY id LIMIT ?)`).run(excess)
  }

  /** Another process has the database: what is not written is reported, and no error. */
  #unlessLocked(operation: StoreOperation, key: CacheKey, call: () => unknown): void {
    try {
      call()
    } catch (error) {
      // The low byte: the others say more about the reason.
      if (!LOCKED.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error
      reportStoreError(operation, key, error)
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

defineKind(SqliteCacheStore, 'ventuno.SqliteCacheStore')

/** Opens the database, and makes the table unless it is there: without a lock then. */
function open(sqlite: SqliteModule, location: string): SqliteDatabase {
  try {
    // A path: not in memory, not a temporary one, and not a URI, which may be either.
    if (location !== '' && location !== ':memory:' && !location.startsWith('file:')) {
      // Bodies may be private: only the owner reads a new file. The files beside it get its mode from SQLite.
      const fs = loadFs()
      fs.closeSync(fs.openSync(location, 'a', 0o600))
    }
    const database = new sqlite.DatabaseSync(location)
    try {
      database.exec('PRAGMA synchronous = NORMAL')
      if (!isPrepared(database)) database.exec(SCHEMA)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    const code = codeOf(error)
    const message = `SqliteCacheStore cannot open ${location}: ${(error as Error).message}`
    throw Object.assign(new Error(message, { cause: error }), code === null ? null : { code })
  }
}

function isPrepared(database: SqliteDatabase): boolean {
  const mode = database.prepare('PRAGMA journal_mode').get()?.['journal_mode']
  const table = database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(`${TABLE}Time`)
  return mode === 'wal' && table !== undefined
}
