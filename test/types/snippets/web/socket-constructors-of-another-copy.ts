import * as own from 'undici'
import * as other from 'undici8'

export const socket: typeof other.WebSocket = own.WebSocket
export const socketBack: typeof own.WebSocket = other.WebSocket
export const source: typeof other.EventSource = own.EventSource
export const sourceBack: typeof own.EventSource = other.EventSource
export const message: typeof other.MessageEvent = own.MessageEvent
export const messageBack: typeof own.MessageEvent = other.MessageEvent
export const close: typeof other.CloseEvent = own.CloseEvent
export const closeBack: typeof own.CloseEvent = other.CloseEvent
export const error: typeof other.ErrorEvent = own.ErrorEvent
export const errorBack: typeof own.ErrorEvent = other.ErrorEvent
