// Objects of undici in a program of this package, and the other way round.
import type { CloseEvent as Own } from 'undici'
import type { CloseEvent as Other } from 'undici8'

export const there = (value: Own): Other => value
export const back = (value: Other): Own => value
