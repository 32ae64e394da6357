/** The origin of the documents (`examples/origin.mjs`) on free ports, and a folder for their output. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './pages.ts'

type Ports = Readonly<Record<string, number>>

interface OriginModule {
  readonly PORTS: Ports
  startOrigins(ports: Ports): Promise<{ readonly ports: Ports; close(): Promise<void> }>
}

export interface Origins {
  /** Has links to the examples, whose certificates the documents name, and to the packages they import. */
  readonly folder: string
  /** The text with the actual ports. */
  withPorts(text: string): string
  close(): Promise<void>
}

export async function startOrigins(): Promise<Origins> {
  // Plain JavaScript, without declarations.
  const origin = (await import(new URL('../../examples/origin.mjs', import.meta.url).href)) as OriginModule
  const names = Object.keys(origin.PORTS)
  const servers = await origin.startOrigins(Object.fromEntries(names.map((name) => [name, 0])))
  const ports = new Map(names.map((name) => [`${origin.PORTS[name]}`, `${servers.ports[name]}`]))
  const folder = mkdtempSync(join(tmpdir(), 'documents-'))
  for (const name of ['examples', 'node_modules']) symlinkSync(join(root, name), join(folder, name), 'dir')
  return {
    folder,
    withPorts: (text) =>
      text.replace(/\blocalhost:(\d+)/g, (_, port: string) => `localhost:${ports.get(port) ?? port}`),
    close: async () => {
      await servers.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
