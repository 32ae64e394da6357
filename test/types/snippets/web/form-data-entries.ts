import { File } from 'node:buffer'
import { FormData } from 'undici'

const form = new FormData()
form.append('a', new File(['x'], 'x.txt', { type: 'text/plain' }))
const entry = form.get('a')
if (entry instanceof File) void [entry.name, entry.lastModified]
form.forEach((value, key, parent) => {
  parent.delete(typeof value === 'string' ? value : key)
})
export const all: [string, unknown][] = [...form.entries()]
