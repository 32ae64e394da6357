// A polyfill.
import { WebSocket } from 'undici'

globalThis.WebSocket = WebSocket
