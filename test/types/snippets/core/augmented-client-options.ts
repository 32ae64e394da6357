import { Agent, Client, Pool } from 'undici'

declare module 'undici' {
  namespace Client {
    interface Options {
      label?: string
    }
  }
}
export const client = new Client('http://localhost', { label: 'one' })
export const pool = new Pool('http://localhost', { label: 'many' })
export const agent = new Agent({ label: 'all' })
