// In a program that also has undici: what is made by undici comes here.
import type { Headers as Own } from 'undici'
import type { Headers as Other } from 'undici8'

export const back = (value: Other): Own => value
