/**
 * Modules of the runtime that take most of the time of an import and that many programs never use: each is
 * loaded when it is first needed. `process.getBuiltinModule` returns the module object itself, so stubs on it
 * are seen. `scripts/check-layers.mjs` treats the import of a loader as the import of its module.
 */
/**
 * The parts of `node:sqlite` that are used; the runtimes that have it are newer than the oldest one
 * supported.
 */
export interface SqliteModule {
  readonly DatabaseSync: new (location: string) => SqliteDatabase
}

export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  run(...values: SqliteValue[]): { changes: number | bigint }
  get(...values: SqliteValue[]): Record<string, SqliteValue> | undefined
  all(...values: SqliteValue[]): Record<string, SqliteValue>[]
}

export type SqliteValue = string | number | bigint | Uint8Array | null

export const loadCrypto: () => typeof import('node:crypto') = loader('node:crypto')
export const loadDns: () => typeof import('node:dns') = loader('node:dns')
export const loadFs: () => typeof import('node:fs') = loader('node:fs')
export const loadNet: () => typeof import('node:net') = loader('node:net')
export const loadTls: () => typeof import('node:tls') = loader('node:tls')
/** From Node 22 on, an `import` of it reads all its exports, and loads half of `node:assert` with them. */
export const loadUtil: () => typeof import('node:util') = loader('node:util')
export const loadWebStreams: () => typeof import('node:stream/web') = loader('node:stream/web')
export const loadZlib: () => typeof import('node:zlib') = loader('node:zlib')

/** Undefined where the runtime does not have it. Not kept: it is loaded once for each database. */
export function loadSqlite(): SqliteModule | undefined {
  return (process.getBuiltinModule as (name: string) => unknown)('node:sqlite') as SqliteModule | undefined
}

function loader<T>(name: string): () => T {
  let module: T | null = null
  return () => {
    module ??= (process.getBuiltinModule as (name: string) => unknown)(name) as T
    return module
  }
}
