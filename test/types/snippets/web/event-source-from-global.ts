// The runtime's EventSource where the library's is expected.
import type { EventSource } from 'undici'

export const give = (value: globalThis.EventSource): EventSource => value
