// In a program that also has undici: what is made by undici comes here.
import type { CacheStorage as Own } from 'undici'
import type { CacheStorage as Other } from 'undici8'

export const back = (value: Other): Own => value
