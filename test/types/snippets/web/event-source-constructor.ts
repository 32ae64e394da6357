// An option of libraries that take an EventSource class.
import { EventSource } from 'undici'

interface SourceLike {
  readonly readyState: number
  readonly url: string
  readonly withCredentials: boolean
  addEventListener(type: string, listener: (event: Event) => void): void
  close(): void
}
export const make = (url: string): SourceLike => new EventSource(url, { withCredentials: true })
