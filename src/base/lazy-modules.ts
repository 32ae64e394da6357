/**
 * Modules of the runtime that take most of the time of an import, and that many programs never come to use:
 * each is loaded when it is first asked for. `process.getBuiltinModule` gives the module object itself, so
 * what is replaced on it, by a test for example, is seen here too.
 */

let netModule: typeof import('node:net') | null = null
let tlsModule: typeof import('node:tls') | null = null
let dnsModule: typeof import('node:dns') | null = null
let cryptoModule: typeof import('node:crypto') | null = null
let zlibModule: typeof import('node:zlib') | null = null
let webStreamModule: typeof import('node:stream/web') | null = null
let utilModule: typeof import('node:util') | null = null

/** `node:net`, loaded now if it was not yet. */
export function loadNet(): typeof import('node:net') {
  netModule ??= process.getBuiltinModule('node:net')
  return netModule
}

/** `node:tls`, loaded now if it was not yet. */
export function loadTls(): typeof import('node:tls') {
  tlsModule ??= process.getBuiltinModule('node:tls')
  return tlsModule
}

/** `node:dns`, loaded now if it was not yet. */
export function loadDns(): typeof import('node:dns') {
  dnsModule ??= process.getBuiltinModule('node:dns')
  return dnsModule
}

/** `node:crypto`, loaded now if it was not yet. */
export function loadCrypto(): typeof import('node:crypto') {
  cryptoModule ??= process.getBuiltinModule('node:crypto')
  return cryptoModule
}

/** `node:zlib`, loaded now if it was not yet. */
export function loadZlib(): typeof import('node:zlib') {
  zlibModule ??= process.getBuiltinModule('node:zlib')
  return zlibModule
}

/** `node:stream/web`, loaded now if it was not yet. */
export function loadWebStreams(): typeof import('node:stream/web') {
  webStreamModule ??= process.getBuiltinModule('node:stream/web')
  return webStreamModule
}

/** `node:util`: an import of it reads all it has, which loads the half of `node:assert` from Node 22 on. */
export function loadUtil(): typeof import('node:util') {
  utilModule ??= process.getBuiltinModule('node:util')
  return utilModule
}
