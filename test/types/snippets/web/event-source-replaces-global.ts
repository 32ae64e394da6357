// A polyfill.
import { EventSource } from 'undici'

globalThis.EventSource = EventSource
