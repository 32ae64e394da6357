// In a program that also has undici: what is made by undici comes here.
import type { CloseEvent as Own } from 'undici'
import type { CloseEvent as Other } from 'undici8'

export const back = (value: Other): Own => value
