import type { fetch } from 'undici'

type Init = NonNullable<Parameters<typeof fetch>[1]>

export const init = (value: Init): globalThis.RequestInit => value
