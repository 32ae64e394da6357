import type { RequestInit, ResponseInit } from 'undici'

export const init = (value: globalThis.RequestInit): RequestInit => value
export const answer = (value: globalThis.ResponseInit): ResponseInit => value
