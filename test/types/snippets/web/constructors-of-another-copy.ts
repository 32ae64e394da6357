// Classes as values, as dependency injection passes them.
import * as own from 'undici'
import * as other from 'undici8'

export const headers: typeof other.Headers = own.Headers
export const headersBack: typeof own.Headers = other.Headers
export const response: typeof other.Response = own.Response
export const responseBack: typeof own.Response = other.Response
export const request: typeof other.Request = own.Request
export const requestBack: typeof own.Request = other.Request
export const form: typeof other.FormData = own.FormData
export const formBack: typeof own.FormData = other.FormData
