/** Recorded requests and responses, in memory and in files. */

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
  /** The request that others are compared with. */
  request: SnapshotRequest
  /** The responses in the order in which they are replayed. */
  responses: SnapshotResponse[]
  /** How often it was replayed. */
  callCount: number
  /** When it was recorded, as ISO 8601. */
  timestamp: string
}

/** A snapshot with the name that files have it under. */
export interface SnapshotData {
  /** A digest of the request. */
  hash: string
  /** What was recorded. */
  snapshot: Snapshot
}

/** What is known about a snapshot, without its responses. */
export interface SnapshotInfo extends Pick<SnapshotData, 'hash'>, Omit<Snapshot, 'responses'> {
  /** How many responses were recorded. */
  responseCount: number
}

/** What replaces a secret in a file. */
export const REDACTED = '<redacted>'
