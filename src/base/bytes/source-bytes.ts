/** The bytes of a caller's buffer or view. */

/**
 * The memory itself, not a copy. What was transferred to another thread has no bytes left (Web IDL §3.2.26).
 */
export function sourceBytes(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const isView = ArrayBuffer.isView(source)
  const buffer = (isView ? source.buffer : source) as ArrayBuffer
  // Asking a detached DataView for its length throws.
  if (buffer.byteLength === 0) return new Uint8Array(0)
  return isView ? new Uint8Array(buffer, source.byteOffset, source.byteLength) : new Uint8Array(buffer)
}

/** The same memory, as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
