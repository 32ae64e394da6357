// In a program that also has undici: what is made by undici comes here.
import type { MessageEvent as Own } from 'undici'
import type { MessageEvent as Other } from 'undici8'

export const back = (value: Other): Own => value
