/** What a newcomer reads first: what to use, how to install it, and where everything else is. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from './pages.ts'

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
const readme = textOf('README.md')
const index = textOf('docs/README.md')

describe('the README', () => {
  it('is short', () => {
    assert.ok(readme.split('\n').length <= 121, `${readme.split('\n').length - 1} lines`)
  })

  it('says which function or class to use, with a time for many requests at once', () => {
    for (const name of ['http', 'request', 'fetch', 'Agent', 'Pool', 'Client']) {
      const row = new RegExp(`^\\| \\[?\`${name}[^|]*\\| [^|]{10,}\\| [\\d,]+ ms`, 'm')
      assert.match(readme, row)
      assert.match(index, row)
    }
  })

  it('begins with a request by URL, and says how to install the library in a project', () => {
    const first = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    assert.match(first, /import \{ request \} from 'ventuno'[\s\S]*request\('http/)
    assert.match(readme, /npm (?:install|i) /)
  })
})

describe('the index of the documents', () => {
  it('names every page and guide', () => {
    for (const [folder, prefix] of [
      ['docs', ''],
      ['docs/guides', 'guides/'],
    ] as const) {
      for (const page of readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))) {
        if (page !== 'README.md') assert.ok(index.includes(`](${prefix}${page}`), `${prefix}${page}`)
      }
    }
  })
})
