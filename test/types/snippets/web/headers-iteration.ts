import { Headers } from 'undici'

const headers = new Headers([['a', 'b']])
const pairs: [string, string][] = []
for (const [name, value] of headers) pairs.push([name, value])
for (const name of headers.keys()) pairs.push([name, ''])
for (const value of headers.values()) pairs.push(['', value])
pairs.push(...headers.entries())
export const object: Record<string, string> = Object.fromEntries(headers)
export const map = new Map(headers)
export const array = Array.from(headers.entries(), ([name]) => name.toLowerCase())
headers.forEach((value, name, all) => {
  all.set(name, value)
})
const iterator = headers[Symbol.iterator]()
const { value, done } = iterator.next()
if (done !== true) pairs.push(value)
export const cookies: string[] = headers.getSetCookie()
