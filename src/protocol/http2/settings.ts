/**
 * The peer's SETTINGS (RFC 9113 §6.5, RFC 8441 §3). Our own values hold from the first byte: they precede
 * every request on the connection, so a server has applied them before it can answer one, acknowledged or
 * not.
 */
import {
  DEFAULT_WINDOW,
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  MAX_MAX_FRAME_SIZE,
  MAX_WINDOW,
  MIN_MAX_FRAME_SIZE,
  PROTOCOL_ERROR,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_ENTRY_BYTES,
  SETTINGS_HEADER_TABLE_SIZE,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_FRAME_SIZE,
} from './constants.ts'
import { MAX_SETTINGS_ENTRIES } from './limits.ts'

/** Failure code when a server takes back SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 8441 §3 forbids it). */
export const CONNECT_PROTOCOL_WITHDRAWN = 'H2_CONNECT_PROTOCOL_WITHDRAWN'

/** "No limit" on the wire; servers that mean "not set" send it too, so it limits and lifts nothing. */
const UNLIMITED_STREAMS = 0xffff_ffff

/** The effects of the peer's settings elsewhere, called in the order of the entries. */
export interface SettingsEffects {
  setHeaderTableSize(size: number): void
  /** Adds to the send window of every stream; false when one passes its bound. */
  shiftSendWindows(delta: number): boolean
}

export interface SettingsFault {
  readonly wireCode: number
  readonly code: number | string
  readonly message: string
}

export class PeerSettings {
  /** Whether the first SETTINGS of the server have arrived. */
  isReceived = false
  /** Null as long as the server has set no limit. */
  maxConcurrentStreams: number | null = null
  initialWindowSize: number = DEFAULT_WINDOW
  maxFrameSize: number = MIN_MAX_FRAME_SIZE
  enableConnectProtocol = false

  /** Applies the payload of a SETTINGS frame entry by entry (§6.5.3). */
  apply(buf: Buffer, start: number, end: number, effects: SettingsEffects): SettingsFault | null {
    if (end - start > MAX_SETTINGS_ENTRIES * SETTINGS_ENTRY_BYTES) {
      return fault(ENHANCE_YOUR_CALM, `SETTINGS with more than ${MAX_SETTINGS_ENTRIES} entries`)
    }
    this.isReceived = true
    for (let at = start; at < end; at += SETTINGS_ENTRY_BYTES) {
      const problem = this.#applyEntry(buf.readUInt16BE(at), buf.readUInt32BE(at + 2), effects)
      if (problem !== null) return problem
    }
    return null
  }

  #applyEntry(id: number, value: number, effects: SettingsEffects): SettingsFault | null {
    switch (id) {
      case SETTINGS_HEADER_TABLE_SIZE:
        effects.setHeaderTableSize(value)
        return null
      case SETTINGS_ENABLE_PUSH:
        // §6.5.2: a server may only send 0, which is the default.
        return value === 0 ? null : fault(PROTOCOL_ERROR, `SETTINGS_ENABLE_PUSH of ${value} from a server`)
      case SETTINGS_MAX_CONCURRENT_STREAMS:
        this.maxConcurrentStreams = value === UNLIMITED_STREAMS ? null : value
        return null
      case SETTINGS_INITIAL_WINDOW_SIZE:
        return this.#setInitialWindow(value, effects)
      case SETTINGS_MAX_FRAME_SIZE:
        if (value < MIN_MAX_FRAME_SIZE || value > MAX_MAX_FRAME_SIZE) {
          return fault(PROTOCOL_ERROR, `SETTINGS_MAX_FRAME_SIZE of ${value}`)
        }
        this.maxFrameSize = value
        return null
      case SETTINGS_ENABLE_CONNECT_PROTOCOL:
        return this.#setConnectProtocol(value)
      default:
        // §6.5.2: SETTINGS_MAX_HEADER_LIST_SIZE is advisory, and unknown settings are ignored; servers send
        // reserved ones on purpose.
        return null
    }
  }

  #setInitialWindow(value: number, effects: SettingsEffects): SettingsFault | null {
    if (value > MAX_WINDOW) return fault(FLOW_CONTROL_ERROR, `SETTINGS_INITIAL_WINDOW_SIZE of ${value}`)
    const delta = value - this.initialWindowSize
    this.initialWindowSize = value
    return effects.shiftSendWindows(delta)
      ? null
      : fault(FLOW_CONTROL_ERROR, 'SETTINGS_INITIAL_WINDOW_SIZE raises a stream window above 2^31-1')
  }

  #setConnectProtocol(value: number): SettingsFault | null {
    if (value > 1) return fault(PROTOCOL_ERROR, `SETTINGS_ENABLE_CONNECT_PROTOCOL of ${value}`)
    if (value === 0 && this.enableConnectProtocol) {
      return {
        wireCode: PROTOCOL_ERROR,
        code: CONNECT_PROTOCOL_WITHDRAWN,
        message: 'Server disabled extended CONNECT protocol against RFC-8441',
      }
    }
    this.enableConnectProtocol = value === 1
    return null
  }
}

/** The server's settings, to be read. */
export type RemoteSettings = Readonly<Omit<PeerSettings, 'apply'>>

function fault(code: number, message: string): SettingsFault {
  return { wireCode: code, code, message }
}
