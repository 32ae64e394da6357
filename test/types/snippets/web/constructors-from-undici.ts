// In a program that also has undici: what is made by undici comes here.
import type * as own from 'undici'
import * as other from 'undici8'

export const headers: typeof own.Headers = other.Headers
export const response: typeof own.Response = other.Response
export const request: typeof own.Request = other.Request
export const form: typeof own.FormData = other.FormData
