// In a program that also has undici: what is made by this package goes there.
import type { CacheStorage as Own } from 'undici'
import type { CacheStorage as Other } from 'undici8'

export const there = (value: Own): Other => value
