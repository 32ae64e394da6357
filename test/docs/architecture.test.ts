/** The map of the code names files and methods that exist. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from './pages.ts'

const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name).slice(join(root, 'src').length))

it('docs/architecture.md names files that exist', () => {
  for (const [, name] of text.matchAll(/`([\w/-]+\.ts)`/g)) {
    // Names may leave out the folders that the sentence is about.
    assert.ok(
      files.some((file) => file.endsWith(`/${name}`)),
      name,
    )
  }
})

it('docs/architecture.md names methods and functions that exist', () => {
  const code = files.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n')
  const names = [...text.matchAll(/`(?:(\w+)\.)?(\w+)\([^`]*\)`/g)]
  assert.ok(names.length > 40)
  for (const [, owner, name] of names) {
    assert.match(code, new RegExp(`\\b${name}[(<]`), name)
    if (owner !== undefined && /^[A-Z]/.test(owner)) assert.match(code, new RegExp(`\\b${owner}\\b`), owner)
  }
})
