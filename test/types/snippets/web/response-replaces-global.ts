// A polyfill.
import { Response } from 'undici'

globalThis.Response = Response
