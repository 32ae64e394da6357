/**
 * Files of snapshots. One is written under another name first, so that a crash leaves the former file.
 */
import { promises, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UndiciError } from '../errors.ts'
import { parseHar, toHar } from './har.ts'
import type { Snapshot, SnapshotData } from './snapshot.ts'
import { hashOf } from './snapshot-key.ts'

/** A file that does not exist is empty. */
export function readSnapshotFile(path: string, isHar: boolean): Snapshot[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new UndiciError(`Failed to load snapshots from ${path}`, { cause })
  }
  try {
    const value: unknown = JSON.parse(text)
    return isHar ? parseHar(value) : parseSnapshots(value)
  } catch (cause) {
    throw new UndiciError(`Failed to load snapshots from ${path}`, { cause })
  }
}

/** A list of `{ hash, snapshot }`, or an object of snapshots by hash. */
export function parseSnapshots(value: unknown): Snapshot[] {
  if (typeof value !== 'object' || value === null) throw new TypeError('snapshots are a list')
  const snapshots = Array.isArray(value)
    ? (value as SnapshotData[]).map(({ snapshot }) => snapshot)
    : (Object.values(value) as Snapshot[])
  return snapshots.map(readSnapshot)
}

function readSnapshot(snapshot: Snapshot): Snapshot {
  const { request, responses, callCount = 0, timestamp = new Date(0).toISOString() } = snapshot
  if (typeof request?.url !== 'string' || typeof request.method !== 'string' || !Array.isArray(responses)) {
    throw new TypeError('a snapshot has a request and responses')
  }
  return {
    request: { ...request, headers: { ...request.headers } },
    responses: [...responses],
    callCount,
    timestamp,
  }
}

export async function writeSnapshotFile(
  path: string,
  snapshots: readonly Snapshot[],
  isHar: boolean,
): Promise<void> {
  const list = snapshots
    .map(
      (snapshot): SnapshotData => ({
        hash: hashOf(snapshot.request),
        snapshot: { ...snapshot, callCount: 0 },
      }),
    )
    .sort((a, b) => compare(placeOf(a), placeOf(b)))
  const value = isHar ? toHar(list.map(({ snapshot }) => snapshot)) : list
  await promises.mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.tmp`
  await promises.writeFile(draft, JSON.stringify(value, null, 2))
  await promises.rename(draft, path)
}

function placeOf({ hash, snapshot: { request } }: SnapshotData): string {
  return `${request.url} ${request.method} ${hash}`
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
