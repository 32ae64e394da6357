/**
 * What a request remembers besides its state, as bits of one number: thousands of requests may wait.
 */

/** The caller gave it up, or its handler threw. */
export const ABORTED = 1
/**
 * The connection had carried another request when this one came. Later ones change what the connection says.
 */
export const REUSED = 2
/** Something of the request was given to a connection, be it a lost one: a server may have seen it. */
export const WRITTEN = 4
/** A source that cannot be read twice was read from. */
export const SPENT = 8
/** A failure is reported a turn of the event loop after it has happened. */
export const REPORTS_LATER = 16
/** The response is complete, and the rest of the body is still being sent. */
export const UPLOADS = 32
