// A polyfill.
import { CloseEvent } from 'undici'

globalThis.CloseEvent = CloseEvent
