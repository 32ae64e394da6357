/** An event of a stream, as the iterators yield it. */

/** An event of the server. */
export interface ServerEvent {
  /** The name of the event; `message` if it has none. */
  event: string
  /** The data, its lines joined with LF. */
  data: string
  /** The latest id of the stream; empty if there was none. */
  id: string
}

/** A comment of the server, which some send to keep the connection alive. */
export interface ServerComment {
  /** Without the colon and one space after it. */
  comment: string
}

export type StreamItem = ServerEvent | ServerComment
