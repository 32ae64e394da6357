// In a program that also has undici: what is made by undici comes here.
import type * as own from 'undici'
import type * as other from 'undici8'

export const answer = (value: other.ResponseInit): own.ResponseInit => value
export const headers = (value: other.HeadersInit): own.HeadersInit => value
export const body = (value: other.BodyInit): own.BodyInit => value
export const info = (value: other.RequestInfo): own.RequestInfo => value
