/**
 * Recorded requests and responses, as they are in memory and, but for bytes, in files.
 */

/** A recorded request. */
export interface SnapshotRequest {
  /** As it was sent. */
  method: string
  /** With the query. */
  url: string
  /** By lower-case name; only those that are compared. */
  headers: Record<string, string>
  /** Text; in base64 if `bodyEncoding` says so. */
  body?: string
  /** Set for a body that is not UTF-8. */
  bodyEncoding?: 'base64'
}

/** A recorded response. */
export interface SnapshotResponse {
  /** From 200 to 999. */
  statusCode: number
  /** By lower-case name; an array if a name came repeatedly. */
  headers: Record<string, string | string[]>
  /** In base64. */
  body: string
  /** By lower-case name. */
  trailers: Record<string, string | string[]>
  /** Milliseconds that it took, where that is known. */
  time?: number
}

/** A request, and the responses to it in order. */
export interface Snapshot {
  request: SnapshotRequest
  responses: SnapshotResponse[]
  /** How often it was replayed. */
  callCount: number
  /** When it was recorded, as ISO 8601. */
  timestamp: string
}

/** A snapshot with the name that files have it under. */
export interface SnapshotData {
  hash: string
  snapshot: Snapshot
}

/** What is known about a snapshot, without its responses. */
export interface SnapshotInfo {
  hash: string
  request: SnapshotRequest
  responseCount: number
  callCount: number
  timestamp: string
}

/** What replaces a secret in a file. */
export const REDACTED = '<redacted>'
