/** The operations that stores of several processes need, on the clients that callers bring. */
import { Buffer } from 'node:buffer'
import type { StoreAnswers } from './store-answers.ts'

/** What a store needs of a client. For RedisCacheStore, any key-value store can provide it. */
export interface KeyValueClient {
  /** The value, or null. Text is taken as UTF-8: values are binary, so a client should return bytes. */
  get(key: string): Promise<Uint8Array | string | null | undefined>
  /** Stores a value that may be forgotten after this many milliseconds. */
  set(key: string, value: Buffer, milliseconds: number): Promise<unknown>
  /** Removes keys, whether or not they are there. */
  delete(keys: readonly string[]): Promise<unknown>
  /** Runs a Lua script on one key. Only for what several processes share beside the cache. */
  eval?(script: string, key: string, args: readonly string[]): Promise<unknown>
}

/** The part of the `ioredis` package that is used. */
export interface IoRedisClient {
  /** Gets the bytes of a value; null if there is none. */
  getBuffer(key: string): Promise<Buffer | null>
  /** Stores a value that expires after this many milliseconds. */
  set(key: string, value: Buffer, unit: 'PX', milliseconds: number): Promise<unknown>
  /** Removes keys. */
  del(...keys: string[]): Promise<unknown>
  /** Runs a Lua script. */
  eval?(script: string, keys: number, ...args: string[]): Promise<unknown>
}

/** The part of the `redis` package that is used. */
export interface NodeRedisClient {
  /** Sends a command, given as a list of its name and arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: the versions of the package type their arguments differently
  sendCommand(args: any, options?: any): Promise<any>
}

/** The clients that RedisCacheStore takes. */
export type RedisClient = KeyValueClient | IoRedisClient | NodeRedisClient

/** Asks version 4 of the `redis` package for bytes, and later ones by the type of a bulk string (`$`). */
const AS_BYTES = { returnBuffers: true, typeMapping: { 36: Buffer } }

/** Null for an object that is not one of these clients. */
export function keyValueClient(client: unknown): KeyValueClient | null {
  if ((typeof client !== 'object' && typeof client !== 'function') || client === null) return null
  // `ioredis` has a sendCommand of another kind.
  if (has(client, 'getBuffer') && has(client, 'set') && has(client, 'del'))
    return onIoRedis(client as IoRedisClient)
  if (has(client, 'sendCommand')) return onNodeRedis(client as NodeRedisClient)
  if (has(client, 'get') && has(client, 'set') && has(client, 'delete')) return client as KeyValueClient
  return null
}

/** The part of a client that runs scripts: of one of the packages, or of any object with `eval`. */
export type ScriptClient = Required<Pick<KeyValueClient, 'eval'>>

/** Null for an object that runs no scripts. */
export function scriptClient(client: unknown): ScriptClient | null {
  const known = keyValueClient(client) ?? (client as KeyValueClient | null | undefined)
  return typeof known?.eval === 'function' ? (known as ScriptClient) : null
}

function has(client: object, method: string): boolean {
  return typeof (client as Record<string, unknown>)[method] === 'function'
}

function onIoRedis(client: IoRedisClient): KeyValueClient {
  return {
    get: (key) => client.getBuffer(key),
    set: (key, value, milliseconds) => client.set(key, value, 'PX', milliseconds),
    delete: (keys) => client.del(...keys),
    ...(has(client, 'eval') && {
      eval: (script: string, key: string, args: readonly string[]) => client.eval!(script, 1, key, ...args),
    }),
  }
}

function onNodeRedis(client: NodeRedisClient): KeyValueClient {
  return {
    get: (key) => client.sendCommand(['GET', key], AS_BYTES),
    set: (key, value, milliseconds) => client.sendCommand(['SET', key, value, 'PX', String(milliseconds)]),
    delete: (keys) => client.sendCommand(['DEL', ...keys]),
    eval: (script, key, args) => client.sendCommand(['EVAL', script, '1', key, ...args]),
  }
}

/** A client whose calls have a time limit. */
export type RemoteClient = Omit<KeyValueClient, 'get' | 'eval'> & { get(key: string): Promise<Buffer | null> }

export function withTimeLimit(client: KeyValueClient, answers: StoreAnswers): RemoteClient {
  const within = <T>(call: () => Promise<T>): Promise<T> => answers.within(Promise.resolve().then(call))
  return {
    get: async (key) => bytesOf(await within(() => client.get(key))),
    set: (key, value, milliseconds) =>
      within(() => client.set(key, value, Math.max(1, Math.ceil(milliseconds)))),
    delete: (keys) => within(() => client.delete(keys)),
  }
}

function bytesOf(value: Uint8Array | string | null | undefined): Buffer | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return Buffer.from(value)
  // Anything with a length would be copied, however long it claims to be.
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError('the client returned neither bytes nor text')
}
