// Objects of undici in a program of this package, and the other way round.
import type { Request as Own } from 'undici'
import type { Request as Other } from 'undici8'

export const there = (value: Own): Other => value
export const back = (value: Other): Own => value
