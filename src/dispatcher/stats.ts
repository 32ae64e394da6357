/**
 * Snapshots of what the dispatchers with several connections have to do.
 */
import type { ClientStats } from './client.ts'

/** A snapshot of what a pool has to do. */
export interface PoolStats {
  /** Connections that are up. */
  connected: number
  /** Those of them that can take a request now. */
  free: number
  /** Accepted and not written yet. */
  pending: number
  /** Those of them that no connection has been chosen for. */
  queued: number
  /** Written and not answered. */
  running: number
  /** Pending and running. */
  size: number
}

/** The `stats` of any dispatcher; null if it has none. */
export function statsOf(dispatcher: object): ClientStats | PoolStats | null {
  const { stats } = dispatcher as { stats?: unknown }
  return typeof stats === 'object' && stats !== null ? (stats as ClientStats | PoolStats) : null
}

/** It has neither a connection nor anything to do. One that gives no numbers is never taken to be idle. */
export function isIdle(dispatcher: object): boolean {
  const stats = statsOf(dispatcher)
  return stats !== null && Number(stats.connected) === 0 && stats.size === 0
}
