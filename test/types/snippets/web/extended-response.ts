import { Headers, Response, type ResponseInit } from 'undici'

class Answer extends Response {
  readonly at = Date.now()
  constructor(text: string, init: ResponseInit = {}) {
    super(text, { ...init, headers: new Headers({ a: 'b' }) })
  }
  async lines(): Promise<string[]> {
    return (await this.text()).split('\n')
  }
  get age(): number {
    return Date.now() - this.at
  }
}
const answer: Response = new Answer('x')
export const is: boolean = answer instanceof Answer && answer.age > 0 && answer instanceof Response
