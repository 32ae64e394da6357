// In a program that also has undici: what is made by this package goes there.
import type { FormData as Own } from 'undici'
import type { FormData as Other } from 'undici8'

export const there = (value: Own): Other => value
