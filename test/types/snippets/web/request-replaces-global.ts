// A polyfill.
import { Request } from 'undici'

globalThis.Request = Request
