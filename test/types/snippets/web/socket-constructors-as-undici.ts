// In a program that also has undici: what is made by this package goes there.
import * as own from 'undici'
import type * as other from 'undici8'

export const socket: typeof other.WebSocket = own.WebSocket
export const source: typeof other.EventSource = own.EventSource
export const message: typeof other.MessageEvent = own.MessageEvent
export const close: typeof other.CloseEvent = own.CloseEvent
export const error: typeof other.ErrorEvent = own.ErrorEvent
