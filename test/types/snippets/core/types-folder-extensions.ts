import type { EventSource } from 'undici/types/eventsource.js'
import type { Headers } from 'undici/types/fetch.d.ts'
import type { FormData } from 'undici/types/formdata.d.ts'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { WebSocket } from 'undici/types/websocket.js'

export type Names = [IncomingHttpHeaders, Headers, FormData, EventSource, WebSocket]
