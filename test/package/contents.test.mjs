// The contents of the package.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { packedText } from '../../scripts/staged-package.mjs'
import { root, usePackage } from './packed.mjs'

/** Bytes, and files. More means that an unwanted file slipped in. */
const MAX_UNPACKED_SIZE = 2_200_000
const MAX_FILES = 390

const EXPECTED = [
  /^package\.json$/,
  /^(README|CHANGELOG|SECURITY)\.md$/,
  /^LICENSE$/,
  /^dist\/(index|cache|cookies|event-source|fetch|http|interceptors|mock|proxy|websocket)\.c?js$/,
  /^dist\/esm\/(index|cache|cookies|event-source|fetch|http|interceptors|mock|proxy|websocket|chunk\d+)\.js$/,
  /^dist\/chunks\/[a-z0-9-]+\.cjs$/,
  /^dist\/cli\/(main|command-[A-Z0-9]+|chunk-[A-Z0-9]+)\.js$/,
  /^types\/[a-z0-9-]+\.d\.c?ts$/,
  /^dist\/(index|surface-[a-z-]+)\.d\.ts$/,
  /^dist\/([a-z0-9-]+\/)*[a-z0-9-]+\.d\.cts$/,
]

describe('the contents of the package', () => {
  const { packed, installed } = usePackage({ after })
  const files = packed.files.map(({ path }) => path)
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))

  test('code, declarations and the papers, and nothing else', () => {
    const surprises = files.filter((path) => !EXPECTED.some((pattern) => pattern.test(path)))
    assert.deepEqual(surprises, [])
    for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md']) {
      assert.ok(files.includes(path), path)
    }
  })

  test('links of the papers lead to the package, or are whole', () => {
    for (const path of files.filter((path) => path.endsWith('.md'))) {
      const text = readFileSync(join(installed, path), 'utf8')
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        const [file] = target.split('#')
        assert.ok(/^https?:/.test(target) || file === '' || files.includes(file), `${path}: ${target}`)
      }
    }
  })

  test('with a known repository, they lead to the tag of the version', () => {
    const known = { repository: { type: 'git', url: 'git+https://example.test/a/b.git' }, version: '1.2.3' }
    const text =
      '[a](docs/x.md#y) ![c](docs/c.svg) [![d](docs/d.svg)](docs/d.md) [`L`](LICENSE) [e](https://e.test) [f](#f)'
    assert.equal(
      packedText(text, new Set(['LICENSE']), known),
      '[a](https://example.test/a/b/blob/v1.2.3/docs/x.md#y) ![c](https://example.test/a/b/raw/v1.2.3/docs/c.svg) ' +
        '[![d](https://example.test/a/b/raw/v1.2.3/docs/d.svg)](https://example.test/a/b/blob/v1.2.3/docs/d.md) ' +
        '[`L`](LICENSE) [e](https://e.test) [f](#f)',
    )
    const bare = packedText(`# T\n${text}`, new Set(['LICENSE']), { version: '1.2.3' })
    assert.match(
      bare,
      /^# T\n\nThe pages .*\na {3}\[`L`\]\(LICENSE\) \[e\]\(https:\/\/e\.test\) \[f\]\(#f\)$/,
    )
  })

  test('everything the manifest points to is there', () => {
    const targets = [manifest.main, manifest.types, ...Object.values(manifest.exports).flatMap(leaves)]
    for (const target of [...targets, ...Object.values(manifest.bin)]) {
      const [start, end] = target.replace(/^\.\//, '').split('*')
      const isNamed = (path) =>
        end === undefined ? path === start : path.startsWith(start) && path.endsWith(end)
      assert.ok(files.some(isNamed), target)
    }
  })

  test('is small', () => {
    assert.ok(packed.unpackedSize <= MAX_UNPACKED_SIZE, `${packed.unpackedSize} bytes`)
    assert.ok(packed.entryCount <= MAX_FILES, `${packed.entryCount} files`)
  })

  test('runs nothing when it is installed, and brings no other package', () => {
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
      assert.equal(manifest.scripts?.[name], undefined, name)
    }
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']) {
      assert.deepEqual(Object.keys(manifest[kind] ?? {}), [], kind)
    }
  })

  test('the code holds no path of the machine it was built on, and no reference to a missing map', () => {
    for (const path of files.filter((path) => /\.(c?js|map)$/.test(path))) {
      const code = readFileSync(join(installed, path), 'utf8')
      assert.ok(!code.includes(root), path)
      for (const [, map] of code.matchAll(/sourceMappingURL=(\S+)/g)) {
        assert.ok(files.includes(`${dirname(path)}/${map}`), path)
      }
    }
  })

  test('no string of the code goes over two lines: what indents the code must not change it', () => {
    for (const path of files.filter((path) => /\.c?js$/.test(path))) {
      assert.ok(!/\\\n/.test(readFileSync(join(installed, path), 'utf8')), path)
    }
  })

  test('every declaration that another one names is there', () => {
    const declarations = files.filter((path) => /\.d\.c?ts$/.test(path))
    for (const path of declarations) {
      const text = readFileSync(join(installed, path), 'utf8')
      for (const [, target] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
        const named = new URL(target.replace(/\.cjs$/, '.d.cts'), `file:///${path}`).pathname.slice(1)
        assert.ok(declarations.includes(named), `${path} → ${target}`)
      }
    }
  })
})

function leaves(target) {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(leaves)
}
