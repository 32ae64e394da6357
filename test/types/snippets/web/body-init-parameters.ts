import { Response } from 'undici'

type Body = ConstructorParameters<typeof Response>[0]
export const body: Body = 'x'
export const make = (...words: ConstructorParameters<typeof Response>): Response => new Response(...words)
