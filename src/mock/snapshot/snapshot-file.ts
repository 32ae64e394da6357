/** Files of snapshots. */
import { promises, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFile } from '../../base/node/whole-file.ts'
import { UndiciError } from '../../errors.ts'
import { parseHar, toHar } from './har.ts'
import type { Snapshot, SnapshotData, SnapshotResponse } from './snapshot.ts'
import { hashOf } from './snapshot-rules.ts'

/** A file that does not exist is empty. */
export function readSnapshotFile(path: string, isHar: boolean): SnapshotData[] {
  try {
    // Editors on Windows may write a byte order mark.
    const value: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
    return isHar ? parseHar(value).map((snapshot) => withHash(null, snapshot)) : parseSnapshots(value)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new UndiciError(`Failed to load snapshots from ${path}`, { cause })
  }
}

/** A list of `{ hash, snapshot }`, or an object of snapshots by hash. */
export function parseSnapshots(value: unknown): SnapshotData[] {
  if (typeof value !== 'object' || value === null) throw new TypeError('snapshots are a list')
  const list = Array.isArray(value)
    ? (value as SnapshotData[]).map(({ hash, snapshot }) => [hash, snapshot] as const)
    : Object.entries(value as Record<string, Snapshot>)
  return list.map(([hash, snapshot]) => withHash(hash, readSnapshot(snapshot)))
}

function withHash(hash: unknown, snapshot: Snapshot): SnapshotData {
  return { hash: typeof hash === 'string' ? hash : hashOf(snapshot.request), snapshot }
}

function readSnapshot(snapshot: Snapshot): Snapshot {
  const { request, responses, callCount = 0, timestamp = new Date(0).toISOString() } = snapshot
  // Without a response, there is nothing to replay.
  const isFilled = Array.isArray(responses) && responses.length > 0
  if (typeof request?.url !== 'string' || typeof request.method !== 'string' || !isFilled) {
    throw new TypeError('a snapshot has a request and responses')
  }
  return {
    request: { ...request, headers: { ...request.headers } },
    responses: responses.map(readResponse),
    callCount,
    timestamp,
  }
}

function readResponse(response: SnapshotResponse): SnapshotResponse {
  const { statusCode, headers = {}, body = '', trailers = {} } = response
  if (!Number.isInteger(statusCode) || typeof body !== 'string') {
    throw new TypeError('a response of a snapshot has a statusCode, and a body in base64')
  }
  return { ...response, headers, body, trailers }
}

export async function writeSnapshotFile(
  path: string,
  snapshots: readonly SnapshotData[],
  isHar: boolean,
): Promise<void> {
  const list = snapshots
    .map(({ hash, snapshot }): SnapshotData => ({ hash, snapshot: { ...snapshot, callCount: 0 } }))
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : Number(placeOf(a) > placeOf(b))))
  const value = isHar ? toHar(list.map(({ snapshot }) => snapshot)) : list
  await promises.mkdir(dirname(path), { recursive: true })
  await replaceFile(path, { text: JSON.stringify(value, null, 2) })
}

function placeOf({ hash, snapshot: { request } }: SnapshotData): string {
  return `${request.url} ${request.method} ${hash}`
}
