/** No bytes. Never handed to a caller, who could transfer the memory to another thread. */
import { Buffer } from 'node:buffer'

export const NO_BYTES: Buffer<ArrayBuffer> = Buffer.alloc(0)
