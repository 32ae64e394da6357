// In a program that also has undici: what is made by this package goes there.
import type { CloseEvent as Own } from 'undici'
import type { CloseEvent as Other } from 'undici8'

export const there = (value: Own): Other => value
