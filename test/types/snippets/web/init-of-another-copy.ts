import type * as own from 'undici'
import type * as other from 'undici8'

export const init = (value: own.RequestInit): other.RequestInit => value
export const initBack = (value: other.RequestInit): own.RequestInit => value
export const answer = (value: own.ResponseInit): other.ResponseInit => value
export const answerBack = (value: other.ResponseInit): own.ResponseInit => value
export const headers = (value: own.HeadersInit): other.HeadersInit => value
export const headersBack = (value: other.HeadersInit): own.HeadersInit => value
export const body = (value: own.BodyInit): other.BodyInit => value
export const bodyBack = (value: other.BodyInit): own.BodyInit => value
export const info = (value: own.RequestInfo): other.RequestInfo => value
export const infoBack = (value: other.RequestInfo): own.RequestInfo => value
