import type { fetch } from 'undici'

type Init = NonNullable<Parameters<typeof fetch>[1]>

export const init = (value: globalThis.RequestInit): Init => value
export const ofGlobal = (value: NonNullable<Parameters<typeof globalThis.fetch>[1]>): Init => value
