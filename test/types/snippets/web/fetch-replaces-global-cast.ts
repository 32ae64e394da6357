// A polyfill that knows that the types differ.
import { fetch } from 'undici'

globalThis.fetch = fetch as unknown as typeof globalThis.fetch
