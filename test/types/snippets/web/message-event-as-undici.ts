// In a program that also has undici: what is made by this package goes there.
import type { MessageEvent as Own } from 'undici'
import type { MessageEvent as Other } from 'undici8'

export const there = (value: Own): Other => value
