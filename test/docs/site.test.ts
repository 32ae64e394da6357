/** The site that `npm run docs` builds: it has every page, finds its mistakes, and the figures of its charts are sound. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { anchorOf, readPages, root } from './pages.ts'

interface Document {
  readonly source: string
  readonly output: string
  readonly title: string
}

interface Group {
  readonly title: string
  readonly items: readonly { readonly title: string; readonly output: string }[]
}

interface Summary {
  readonly median: number | null
  readonly min?: number
  readonly max?: number
}

interface Scenario {
  readonly name: string
  readonly title: string
  readonly kind: string
  readonly metrics: readonly { readonly key: string; readonly better: string; readonly digits: number }[]
  readonly candidates: readonly {
    readonly name: string
    readonly metrics: Readonly<Record<string, Summary>> | null
    readonly advantage: Readonly<Record<string, Summary | null>> | null
  }[]
}

interface Run {
  readonly date: string
  readonly machine: object
  readonly rounds: number
  readonly seconds: number
  readonly warmup: number
  readonly scenarios: readonly Scenario[]
}

interface Suites {
  readonly versions: Readonly<Record<string, string>>
  readonly suites: readonly {
    readonly name: string
    readonly title: string
    readonly of: number | null
    readonly results: readonly { readonly name: string; readonly passed: number }[]
  }[]
}

/** The modules of the site and of the benchmark are JavaScript. */
interface Modules {
  readDocuments(): readonly Document[]
  navigationOf(documents: readonly Document[]): readonly Group[]
  anchorOf(heading: string): string
  problemsOf(pages: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): string[]
  searchIndex(pages: ReadonlyMap<string, string>): string
  chart(scenarios: readonly Scenario[], machine: object): string
  readonly CANDIDATES: Readonly<Record<string, object>>
  readonly METRICS: Readonly<Record<string, readonly object[]>>
}

const modules = [
  'site/pages.mjs',
  'site/check.mjs',
  'site/search-index.mjs',
  'bench/chart.mjs',
  'bench/candidates/index.mjs',
  'bench/metrics.mjs',
]
const imported = await Promise.all(modules.map((path) => import(pathToFileURL(join(root, path)).href)))
const site = Object.assign({}, ...imported) as Modules

function figures<T>(name: string): T {
  return JSON.parse(readFileSync(join(root, 'docs/figures', `${name}.json`), 'utf8')) as T
}

describe('the site', () => {
  const documents = site.readDocuments()

  it('has every page, each in a file of its own', () => {
    const sources = new Set(documents.map(({ source }) => source))
    for (const { path } of readPages()) assert.ok(sources.has(path), path)
    assert.equal(new Set(documents.map(({ output }) => output)).size, documents.length)
  })

  it('names every page in its navigation but the decision records', () => {
    const items = site.navigationOf(documents).flatMap((group) => group.items)
    const named = new Set(items.map(({ output }) => output))
    for (const { source, output } of documents) {
      if (!/^docs\/(?!decisions\/)/.test(source)) continue
      assert.ok(named.has(output), source)
    }
    const outputs = new Set(documents.map(({ output }) => output))
    for (const { title, output } of items) assert.ok(outputs.has(output), title)
  })

  it('names headings as the links expect it', () => {
    for (const heading of readPages().flatMap(({ headings }) => headings)) {
      assert.equal(site.anchorOf(heading), anchorOf(heading))
    }
  })

  it('does not go into the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
    assert.ok(!files.some((name) => /^(?:\*|\.|site|docs)/.test(name)), files.join(', '))
    assert.match(readFileSync(join(root, '.gitignore'), 'utf8'), /^\/site\/out\/$/m)
  })
})

describe('the check of the built site', () => {
  const sound = '<h1 id="top">A</h1><a href="b.html#part">b</a><a href="https://example.com/">e</a>'
  const files = new Map([
    ['style.css', 'body { color: red }'],
    ['chart.svg', ''],
  ])
  const problemsWith = (html: string, more: ReadonlyMap<string, string> = new Map()): string[] =>
    site.problemsOf(
      new Map([
        ['a.html', sound + html],
        ['b.html', '<h2 id="part">Part</h2><img src="chart.svg" alt="">'],
      ]),
      new Map([...files, ...more]),
    )

  it('passes a sound site', () => assert.deepEqual(problemsWith(''), []))

  for (const [what, html, problem] of [
    ['a dead link', '<a href="c.html">c</a>', 'a.html: c.html: no such file'],
    ['a dead anchor', '<a href="b.html#other">b</a>', 'a.html: b.html#other: no such heading'],
    ['a dead anchor on the page itself', '<a href="#other">b</a>', 'a.html: #other: no such heading'],
    ['a missing picture', '<img src="x.png" alt="">', 'a.html: x.png: no such file'],
    [
      'a picture from elsewhere',
      '<img src="https://h/x.png">',
      'a.html: https://h/x.png: comes from elsewhere',
    ],
    ['a script from elsewhere', '<script src="//h/x.js">', 'a.html: //h/x.js: comes from elsewhere'],
    ['two headings of one name', '<h2 id="top">A</h2>', 'a.html: two of #top'],
  ] as const) {
    it(`finds ${what}`, () => assert.deepEqual(problemsWith(html), [problem]))
  }

  it('finds rules that fetch something', () => {
    const rules = new Map([['x.css', '@font-face { src: url(https://h/f.woff) }']])
    assert.deepEqual(problemsWith('', rules), ['x.css: https://h/f.woff: rules fetch nothing'])
  })
})

describe('the index of the search', () => {
  it('has the words of each section and of the title above it, and what a row of a table is about as if it were a heading', () => {
    const page = `<nav>menu</nav><main id="content"><h1 id="pool">Pool</h1><p>many &amp; more</p>
<h2 id="options">Options</h2><table><tr><td><code>maxSize</code></td><td>a limit</td></tr></table></main>`
    const script = site.searchIndex(new Map([['docs/pool.html', page]]))
    const json = /^globalThis\.searchIndex = (.*)\n$/.exec(script)![1]!
    const { sections, words } = JSON.parse(json) as { sections: unknown[]; words: [string, number[]][] }
    assert.deepEqual(sections, [
      ['docs/pool.html', '', 'Pool', '', 'many & more'],
      ['docs/pool.html', 'options', 'Pool', 'Options', 'maxSize a limit'],
    ])
    const found = new Map(words)
    assert.deepEqual(found.get('pool'), [3, 5])
    assert.deepEqual(found.get('many'), [0])
    assert.deepEqual(found.get('maxsize'), [6])
    assert.deepEqual(found.get('size'), [5])
    assert.equal(found.get('menu'), undefined)
  })
})

describe('the figures of the charts', () => {
  for (const name of ['saturated', 'paced']) {
    it(`of docs/figures/${name}.json are as the benchmark writes them`, () => {
      const { date, machine, rounds, seconds, warmup, scenarios } = figures<Run>(name)
      assert.ok(!Number.isNaN(Date.parse(date)), date)
      for (const key of ['cpu', 'cores', 'node', 'systemNode', 'nginx', 'peers'])
        assert.ok(key in machine, key)
      for (const number of [rounds, seconds, warmup]) assert.ok(number > 0)
      assert.equal(new Set(scenarios.map((scenario) => scenario.name)).size, scenarios.length)
      for (const scenario of scenarios) {
        assert.deepEqual(scenario.metrics, site.METRICS[scenario.kind], scenario.name)
        const keys = scenario.metrics.map(({ key }) => key)
        assert.ok(
          scenario.candidates.some((candidate) => candidate.name === 'ventuno'),
          scenario.name,
        )
        for (const { name: candidate, metrics } of scenario.candidates) {
          assert.ok(Object.hasOwn(site.CANDIDATES, candidate), candidate)
          if (metrics === null) continue
          assert.deepEqual(Object.keys(metrics), keys, `${scenario.name}: ${candidate}`)
          const medians = Object.values(metrics).map(({ median }) => median)
          assert.ok(medians.some((median) => median !== null))
          for (const median of medians) assert.ok(median === null || median >= 0)
        }
      }
    })
  }

  it('of docs/figures/suites.json are those of docs/conformance.md', () => {
    const { versions, suites } = figures<Suites>('suites')
    const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8')
    for (const [name, version] of Object.entries(versions)) assert.ok(page.includes(version), name)
    for (const { name, of, results } of suites) {
      assert.ok(results.some((result) => result.name === 'ventuno') && results.length > 1, name)
      for (const { passed } of results) {
        assert.ok(of === null || passed <= of, name)
        const stated = passed.toLocaleString('en')
        assert.match(page, new RegExp(`(?<![\\d,])${stated}(?![\\d,])`), `${name}: ${stated}`)
      }
    }
  })

  it('are those of docs/performance.svg', () => {
    const { scenarios, machine } = figures<Run>('saturated')
    assert.ok(
      readFileSync(join(root, 'docs/performance.svg'), 'utf8') === site.chart(scenarios, machine),
      'draw it again: npm run bench -- --from docs/figures/saturated.json --svg docs/performance.svg',
    )
  })
})
