// In a program that also has undici: what is made by undici comes here.
import type { fetch } from 'undici'
import { fetch as other } from 'undici8'

export const back: typeof fetch = other
