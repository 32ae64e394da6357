import { Headers, Request, type RequestInfo, type RequestInit } from 'undici'

class Signed extends Request {
  readonly #key: string
  constructor(input: RequestInfo, init: RequestInit, key: string) {
    super(input, init)
    this.#key = key
    this.headers.set('authorization', this.sign())
  }
  protected sign(): string {
    return `${this.#key}:${this.method}:${this.url}`
  }
}
class LoudHeaders extends Headers {
  loud(name: string): string | null {
    return this.get(name)?.toUpperCase() ?? null
  }
}
export const request: Request = new Signed('http://a.test', { method: 'GET' }, 'k')
export const headers: Headers = new LoudHeaders({ a: 'b' })
