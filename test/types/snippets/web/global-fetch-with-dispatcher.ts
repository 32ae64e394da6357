// The runtime's fetch takes the dispatcher of a library.
import { Agent } from 'undici'

export const response = globalThis.fetch('http://a.test', { dispatcher: new Agent() })
