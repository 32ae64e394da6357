// A polyfill.
import { Headers } from 'undici'

globalThis.Headers = Headers
