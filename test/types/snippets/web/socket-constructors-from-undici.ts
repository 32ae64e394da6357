// In a program that also has undici: what is made by undici comes here.
import type * as own from 'undici'
import * as other from 'undici8'

export const socket: typeof own.WebSocket = other.WebSocket
export const source: typeof own.EventSource = other.EventSource
export const message: typeof own.MessageEvent = other.MessageEvent
export const close: typeof own.CloseEvent = other.CloseEvent
export const error: typeof own.ErrorEvent = other.ErrorEvent
