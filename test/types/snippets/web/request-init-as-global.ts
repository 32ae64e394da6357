import type { BodyInit, HeadersInit, RequestInit, ResponseInit } from 'undici'

export const init = (value: RequestInit): globalThis.RequestInit => value
export const answer = (value: ResponseInit): globalThis.ResponseInit => value
export const headers = (value: HeadersInit): ConstructorParameters<typeof globalThis.Headers>[0] => value
export const body = (value: BodyInit): ConstructorParameters<typeof globalThis.Response>[0] => value
