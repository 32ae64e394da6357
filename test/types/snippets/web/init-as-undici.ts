// In a program that also has undici: what is made by this package goes there.
import type * as own from 'undici'
import type * as other from 'undici8'

export const init = (value: own.RequestInit): other.RequestInit => value
export const answer = (value: own.ResponseInit): other.ResponseInit => value
export const headers = (value: own.HeadersInit): other.HeadersInit => value
export const body = (value: own.BodyInit): other.BodyInit => value
export const info = (value: own.RequestInfo): other.RequestInfo => value
