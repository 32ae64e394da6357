// A wrapper with options of its own.
import { type BodyInit, fetch, type HeadersInit, type RequestInit, type Response } from 'undici'

interface Options extends Omit<RequestInit, 'body'> {
  json?: unknown
  retries?: number
  headers?: HeadersInit
}
export async function call(url: string, { json, retries = 0, ...init }: Options = {}): Promise<Response> {
  const body: BodyInit | null = json === undefined ? null : JSON.stringify(json)
  try {
    return await fetch(url, { ...init, body })
  } catch (error) {
    if (retries > 0) return call(url, { ...init, json, retries: retries - 1 })
    throw error
  }
}
export type Input = Parameters<typeof fetch>[0]
export type Init = NonNullable<Parameters<typeof fetch>[1]>
export type Answer = Awaited<ReturnType<typeof fetch>>
export const status = (answer: Answer): number => answer.status
