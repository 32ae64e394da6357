// The `fetch` of the runtime, which needs no import.
import { realFetcher } from './dispatcher.mjs'

export async function open(target) {
  return { send: realFetcher(globalThis.fetch, undefined, target), close() {} }
}
