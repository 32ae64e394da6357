// Loads TypeScript in test processes: strips the types of each file once, and keeps the result for all processes. The
// tests start several hundred, and each imports most of the sources.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(tmpdir(), 'ventuno-test-modules')
mkdirSync(folder, { recursive: true })

let esbuild = null

export async function load(url, context, next) {
  const [file] = url.split('?')
  if (!file.startsWith('file:') || !file.endsWith('.ts')) return next(url, context)
  const path = fileURLToPath(file)
  const source = readFileSync(path, 'utf8')
  const kept = join(folder, `${createHash('sha1').update(path).update(source).digest('hex')}.js`)
  return { format: 'module', source: read(kept) ?? (await compile(source, path, kept)), shortCircuit: true }
}

function read(path) {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

async function compile(source, path, kept) {
  esbuild ??= await import('esbuild')
  const { code } = await esbuild.transform(source, {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    sourcefile: path,
    sourcemap: 'inline',
    sourcesContent: false,
    keepNames: true,
  })
  // Written under another name first: other processes read while this one writes.
  writeFileSync(`${kept}.${process.pid}`, code)
  renameSync(`${kept}.${process.pid}`, kept)
  return code
}
