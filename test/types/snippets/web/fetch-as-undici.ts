// In a program that also has undici: what is made by this package goes there.
import { fetch } from 'undici'
import type { fetch as other } from 'undici8'

export const there: typeof other = fetch
