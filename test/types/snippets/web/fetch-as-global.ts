// A fetch that is passed where the runtime's is expected.
import { fetch } from 'undici'

const own: typeof globalThis.fetch = fetch
export const client = { fetch: own }
