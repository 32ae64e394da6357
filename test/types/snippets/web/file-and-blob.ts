// Files of the runtime in forms, and what comes out of them.
import { Blob as NodeBlob, type File as NodeFile } from 'node:buffer'
import { FormData, Response } from 'undici'

export async function form(file: NodeFile): Promise<string[]> {
  const data = new FormData()
  data.append('file', file)
  data.append('blob', new Blob(['x']), 'x.txt')
  data.set('node-blob', new NodeBlob(['x']))
  const names: string[] = []
  for (const [name, value] of data) names.push(typeof value === 'string' ? value : `${name}=${value.name}`)
  const answer = await new Response(data).formData()
  const entry = answer.get('file')
  if (entry !== null && typeof entry !== 'string') names.push(entry.name, entry.type, `${entry.size}`)
  const blob = await new Response('x').blob()
  names.push(blob.type, `${(await blob.arrayBuffer()).byteLength}`)
  return [...names, ...data.keys(), ...data.getAll('x').map(String)]
}
