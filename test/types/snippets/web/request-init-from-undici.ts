// In a program that also has undici: its options come here.
import type * as own from 'undici'
import type * as other from 'undici8'

export const init = (value: other.RequestInit): own.RequestInit => value
