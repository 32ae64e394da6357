/** Every link between the documents leads to an existing file and heading. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, it } from 'node:test'
import { anchorOf, readPages, root } from './pages.ts'

const pages = readPages()
const anchors = new Map(pages.map((page) => [page.path, new Set(page.headings.map(anchorOf))]))

describe('the links in the documents', () => {
  for (const page of pages) {
    it(`of ${page.path} lead somewhere`, () => {
      const text = page.text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '')
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue
        const [file, anchor] = target!.split('#') as [string, string?]
        const path = file === '' ? page.path : posix.join(posix.dirname(page.path), file)
        assert.ok(existsSync(join(root, path)), `${page.path}: ${target}`)
        if (anchor !== undefined) {
          assert.ok(anchors.get(path)?.has(anchor) === true, `${page.path}: ${target}`)
        }
      }
    })
  }

  it('reach every page', () => {
    const linked = new Set(
      pages.flatMap((page) =>
        [...page.text.matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) =>
          posix.join(posix.dirname(page.path), target!),
        ),
      ),
    )
    for (const { path } of pages) assert.ok(path === 'README.md' || linked.has(path), path)
  })
})
