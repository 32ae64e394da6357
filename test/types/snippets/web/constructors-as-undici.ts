// In a program that also has undici: what is made by this package goes there.
import * as own from 'undici'
import type * as other from 'undici8'

export const headers: typeof other.Headers = own.Headers
export const response: typeof other.Response = own.Response
export const request: typeof other.Request = own.Request
export const form: typeof other.FormData = own.FormData
