// The library's EventSource where the runtime's is expected.
import type { EventSource } from 'undici'

export const give = (value: EventSource): globalThis.EventSource => value
