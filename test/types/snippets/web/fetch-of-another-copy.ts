import { fetch } from 'undici'
import { fetch as other } from 'undici8'

export const there: typeof other = fetch
export const back: typeof fetch = other
