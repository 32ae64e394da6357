// A polyfill.
import { FormData } from 'undici'

globalThis.FormData = FormData
