/**
 * Every ceiling of the HTTP/2 engine, each with its reason. They are meant for hostile peers and generous to
 * honest ones: a client that counts too strictly fails against ordinary servers (hyperium/h2#856), so the
 * counted ones hold per time window and the failure names the limit.
 */

/** The span over which the frame budgets below are counted, in the unit of the `now` passed to `receive`. */
export const BUDGET_WINDOW_MS = 10_000

/**
 * PING, both directions (CVE-2019-9512). Servers that estimate bandwidth ping once per round trip, which on
 * a local link means some thousand per second.
 */
export const MAX_PINGS = 50_000
/** SETTINGS (CVE-2019-9515) and GOAWAY. Servers send them rarely; each costs a walk over all streams. */
export const MAX_SETTINGS = 1_000
/** Entries in one SETTINGS frame (CVE-2020-11080). RFC 9113 and its extensions define fewer than ten. */
export const MAX_SETTINGS_ENTRIES = 64
/** Frames that carry nothing and end nothing (CVE-2019-9518): DATA, HEADERS and CONTINUATION. */
export const MAX_EMPTY_FRAMES = 10_000
/** PRIORITY (CVE-2019-9513), ALTSVC, ORIGIN (CVE-2026-48619) and unknown frames: skipped, never stored. */
export const MAX_IGNORED_FRAMES = 10_000
/**
 * RST_STREAM from the peer (CVE-2019-9514, CVE-2023-44487). A server can only reset what we opened, so its
 * rate is bound to ours: the ceiling lies above what an overloaded but honest server refuses.
 */
export const MAX_PEER_RESETS = 100_000
/** RST_STREAM that we send because of the peer's frames (CVE-2025-8671, "MadeYouReset"). */
export const MAX_PROVOKED_RESETS = 5_000
/** Frames other than DATA on closed streams: some are in flight after each cancel, an endless row is not. */
export const MAX_LATE_FRAMES = 50_000
/**
 * WINDOW_UPDATE beyond what our DATA explains (CVE-2019-9511, "data dribble", CVE-2019-9517). Servers answer
 * each DATA frame with up to two updates; those are paid for by `UPDATES_EARNED_BY_DATA`.
 */
export const MAX_IDLE_WINDOW_UPDATES = 10_000
/** Updates that one useful DATA frame of ours explains: the stream's and the connection's, doubled. */
export const UPDATES_EARNED_BY_DATA = 4
/** A DATA frame cut down to fewer bytes than this by the peer's window explains no further update. */
export const USEFUL_DATA_BYTES = 256

/**
 * HEADERS and CONTINUATION frames in one header block (CONTINUATION flood: CVE-2024-27983, CVE-2024-27316).
 * With full frames this is 4 MiB, sixteen times what the next limit allows.
 */
export const MAX_HEADER_FRAMES = 256
/**
 * Compressed bytes of one header block that are decoded at least, whatever the header limit is: a block
 * over the header limit must be decoded to its end for the sake of the other streams (RFC 9113 §4.3), and
 * one beyond this size costs the connection instead.
 */
export const MIN_COMPRESSED_BLOCK_CEILING = 262_144
/** Compressed bytes per byte of permitted header list: Huffman coding may expand to 30/8. */
export const COMPRESSED_BYTES_PER_LISTED = 4
/**
 * Fields in one header block ("HTTP/2 bomb", CVE-2026-49975): each costs far more memory than its bytes.
 * Node's own HTTP/1.1 parser stops at 2000.
 */
export const MAX_HEADER_FIELDS = 2_000
/**
 * Interim (1xx) heads of one response. A server may report 102 every second for hours, but not flood them.
 */
export const MAX_INTERIM_RESPONSES = 256

/**
 * Bytes of control frames waiting for the transport (CVE-2019-9512, -9515, -9517): acknowledgements that a
 * peer provokes while it does not read. 60,000 PING answers.
 */
export const MAX_CONTROL_BYTES_QUEUED = 1_048_576
/** GOAWAY debug data that is kept for the error message. */
export const MAX_DEBUG_DATA = 1_024

/**
 * DATA and header frames are cut at this size even if the peer takes more, so that streams take fair turns.
 */
export const MAX_SENT_FRAME = 32_768
/** Body bytes that wait in one stream before `send` asks the caller to hold back. */
export const SEND_HIGH_WATER = 131_072
/** DATA bytes framed by one `takeOutput`: control frames wait for no more than this. */
export const MAX_DATA_PER_TAKE = 262_144
/** Body pieces up to this size are copied beside their frame header; larger ones go out by reference. */
export const COPY_LIMIT = 4_096
/** Size of one piece of output memory, from an idle connection to some hundred requests at once. */
export const FIRST_SLAB_BYTES = 1_024
export const OUTPUT_SLAB_BYTES = 16_384

/** Closed stream ids whose reason is remembered; frames on older ones count as late and are ignored. */
export const CLOSED_MEMORY = 1_024
/** Room for them at the start: most connections carry few requests, or thousands. */
export const FIRST_CLOSED_MEMORY = 32

/**
 * A stream's receive window grows to the bandwidth-delay product, but not beyond this: 16 MiB carries
 * 1 Gbit/s over 130 ms. It also bounds the bytes held for one consumer that stops reading.
 */
export const MAX_STREAM_WINDOW = 16_777_216
/** The connection's receive window carries all streams: two at full growth at the same time. */
export const MAX_CONNECTION_WINDOW = 33_554_432
/** Growth beyond the initial window, summed over all open streams of a connection. */
export const MAX_TOTAL_GROWTH = 67_108_864
