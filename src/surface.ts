/** The public surface: every exported name, once. Each part but the first is an entry of its own, too. */

export { install } from './install.ts'
export * from './surface-cache.ts'
export * from './surface-cookies.ts'
export * from './surface-core.ts'
export * from './surface-event-source.ts'
export * from './surface-fetch.ts'
export * from './surface-http.ts'
export * from './surface-interceptors.ts'
export * from './surface-mock.ts'
export * from './surface-proxy.ts'
export * from './surface-websocket.ts'
