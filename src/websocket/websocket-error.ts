/** `WebSocketError` (WHATWG WebSockets §4.3): a failure with the code and reason of a close frame. */
import { atob } from 'node:buffer'
import { isSendable, NORMAL } from '../protocol/websocket/close-code.ts'
import { MAX_CONTROL_PAYLOAD } from '../protocol/websocket/constants.ts'
import { asString, toDictionary } from '../web/idl.ts'
import { defineInterface } from '../web/interface.ts'

/** How a WebSocket was closed, or is to be closed. */
export interface WebSocketCloseInfo {
  /** 1000, or from 3000 to 4999. */
  closeCode?: number | undefined
  /** At most 123 bytes of UTF-8. */
  reason?: string | undefined
}

/** Options of `WebSocketError`. */
export interface WebSocketErrorInit extends WebSocketCloseInfo {
  /** What led to it. */
  cause?: unknown
}

/** A close frame has to fit into a control frame, and begins with two bytes of code. */
const MAX_REASON = MAX_CONTROL_PAYLOAD - 2

/** Code and reason, checked: a reason needs a code. @throws {DOMException | TypeError} */
export function readCloseInfo(given: WebSocketCloseInfo | null | undefined, where: string): CheckedCloseInfo {
  const { closeCode, reason } = toDictionary(given, where) ?? {}
  const code = closeCode === undefined ? null : toCode(closeCode, where)
  const text = reason === undefined ? '' : asString(reason)
  checkClose(code, text)
  return { closeCode: code ?? (text === '' ? null : NORMAL), reason: text }
}

/** Whether a close frame can have this code and reason. @throws {DOMException} */
export function checkClose(code: number | null, reason: string): void {
  if (code !== null && !isSendable(code)) throw new DOMException('invalid code', 'InvalidAccessError')
  const length = Buffer.byteLength(reason)
  if (length > MAX_REASON) {
    throw new DOMException(`Reason must be less than ${MAX_REASON} bytes; received ${length}`, 'SyntaxError')
  }
}

export interface CheckedCloseInfo {
  /** Null for a close frame without a code. */
  readonly closeCode: number | null
  readonly reason: string
}

/** Web IDL's `[EnforceRange] unsigned short`. */
function toCode(value: unknown, where: string): number {
  const code = Math.trunc(Number(value))
  if (code >= 0 && code <= 0xffff) return code
  throw new TypeError(`${where}: closeCode must be from 0 to 65535`)
}

/** Creates an error with a code that cannot be sent, such as 1006. */
export let endedWith: (message: string, info: CheckedCloseInfo, cause: unknown) => WebSocketError

/** Reading the global of this name replaces a property of the global object, which an import must not do. */
function findDOMException(): typeof DOMException {
  try {
    throw atob('*')
  } catch (error) {
    return (error as DOMException).constructor as typeof DOMException
  }
}

const RuntimeDOMException: typeof DOMException = findDOMException()

/** Why a `WebSocketStream` ended. As the reason of an abort, it sets the close code and reason. */
export class WebSocketError extends RuntimeDOMException {
  #info: CheckedCloseInfo

  constructor(message = '', init: WebSocketErrorInit | null = null) {
    const info = readCloseInfo(init, 'WebSocketError constructor')
    super(message, 'WebSocketError')
    this.#info = info
    if (init !== null && Object.hasOwn(init, 'cause')) {
      Object.defineProperty(this, 'cause', { value: init.cause, writable: true, configurable: true })
    }
  }

  /** Null if there is none. */
  get closeCode(): number | null {
    return this.#info.closeCode
  }

  /** Empty if there is none. */
  get reason(): string {
    return this.#info.reason
  }

  static {
    endedWith = (message, info, cause) => {
      const error = new WebSocketError(message, cause === null ? null : { cause })
      error.#info = info
      return error
    }
    defineInterface(WebSocketError, 'WebSocketError')
  }
}
