// The same through a cast, as it is written where lib.dom hides the runtime's options.
import { Agent } from 'undici'

const dispatcher = new Agent({ connect: { timeout: 100 } })
export const first = globalThis.fetch('http://a.test', { method: 'POST', dispatcher } as RequestInit)
export const second = globalThis.fetch('http://a.test', { dispatcher } as unknown as RequestInit)
