// A polyfill.
import { fetch } from 'undici'

globalThis.fetch = fetch
