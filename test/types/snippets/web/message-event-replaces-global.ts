// A polyfill.
import { MessageEvent } from 'undici'

globalThis.MessageEvent = MessageEvent
