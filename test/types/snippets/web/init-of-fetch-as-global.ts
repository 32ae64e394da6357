// The options that a wrapper takes from undici's `fetch` go to the runtime's.
import type { fetch } from 'undici'

type Init = NonNullable<Parameters<typeof fetch>[1]>

export const send = (url: string, init: Init) => globalThis.fetch(url, init as globalThis.RequestInit)
