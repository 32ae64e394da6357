/**
 * Modules of the runtime that take most of the time of an import and that many programs never use: each is
 * loaded when it is first needed. `process.getBuiltinModule` returns the module object itself, so stubs on it
 * are seen. `scripts/check-layers.mjs` treats the import of a loader as the import of its module.
 */
type Modules = {
  readonly 'node:crypto': typeof import('node:crypto')
  readonly 'node:dns': typeof import('node:dns')
  readonly 'node:fs': typeof import('node:fs')
  readonly 'node:net': typeof import('node:net')
  readonly 'node:stream/web': typeof import('node:stream/web')
  readonly 'node:tls': typeof import('node:tls')
  readonly 'node:util': typeof import('node:util')
  readonly 'node:zlib': typeof import('node:zlib')
}

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

type Loader<Name extends keyof Modules> = () => Modules[Name]

export const loadCrypto: Loader<'node:crypto'> = loader('node:crypto')
export const loadDns: Loader<'node:dns'> = loader('node:dns')
export const loadFs: Loader<'node:fs'> = loader('node:fs')
export const loadNet: Loader<'node:net'> = loader('node:net')
export const loadTls: Loader<'node:tls'> = loader('node:tls')
/** From Node 22 on, an `import` of it reads all its exports, and loads half of `node:assert` with them. */
export const loadUtil: Loader<'node:util'> = loader('node:util')
export const loadWebStreams: Loader<'node:stream/web'> = loader('node:stream/web')
export const loadZlib: Loader<'node:zlib'> = loader('node:zlib')

/** Undefined where the runtime does not have it. Not kept: it is loaded once for each database. */
export function loadSqlite(): SqliteModule | undefined {
  return (process.getBuiltinModule as (name: string) => unknown)('node:sqlite') as SqliteModule | undefined
}

function loader<Name extends keyof Modules>(name: Name): Loader<Name> {
  let module: Modules[Name] | null = null
  return () => {
    module ??= process.getBuiltinModule(name) as Modules[Name]
    return module
  }
}
