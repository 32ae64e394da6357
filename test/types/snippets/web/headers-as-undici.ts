// In a program that also has undici: what is made by this package goes there.
import type { Headers as Own } from 'undici'
import type { Headers as Other } from 'undici8'

export const there = (value: Own): Other => value
