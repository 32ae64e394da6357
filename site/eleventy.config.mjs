// `npm run docs`: the documents as a site in site/out, which works from a folder. Eleventy renders the pages; afterwards the
// index of the search is written and every link is checked.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { chartHtml } from './charts.mjs'
import { problemsOf } from './check.mjs'
import { escapeHtml, highlight, setUpMarkdown } from './markdown.mjs'
import {
  baseOf,
  entriesOf,
  linkResolver,
  navigationOf,
  outputOf,
  readDocuments,
  readSources,
  root,
  sourceOutput,
} from './pages.mjs'
import { searchIndex } from './search-index.mjs'

const OUT = 'site/out'
const RECORD = /^docs\/decisions\/\d/

export default function (config) {
  const documents = readDocuments()
  const sources = readSources(documents)
  const navigation = navigationOf(documents)
  const records = documents.filter(({ output }) => RECORD.test(output))
  const orders = [navigation.flatMap(({ items }) => items), records]

  config.setQuietMode(true)
  config.setUseGitIgnore(false)
  config.amendLibrary('md', (md) =>
    setUpMarkdown(md, { resolve: linkResolver(documents, sources), chart: chartHtml }),
  )
  config.addPassthroughCopy({ 'site/assets': 'assets' })
  config.addGlobalData('navigation', navigation)
  config.addFilter('contents', contentsOf)
  config.addFilter('belowTitle', belowTitle)
  config.addFilter('from', (target, base) => base + target)
  config.addFilter('open', (group, output) => group.items.some((item) => item.output === groupPage(output)))
  config.addFilter('neighbours', (output) => neighboursOf(orders, output))
  config.addFilter('current', currentOf)

  for (const { source, output, title, text } of documents) {
    config.addTemplate(source, text, pageData({ source, output, title }))
  }
  for (const path of sources.files) {
    const code = highlight(readFileSync(join(root, path), 'utf8'), path.split('.').at(-1))
    config.addTemplate(
      `source/${path}.html`,
      sourcePage(path, `<pre><code>${code}</code></pre>`),
      sourceData(path),
    )
  }
  for (const path of sources.folders) {
    config.addTemplate(`source/${path}.html`, sourcePage(path, listOf(path, sources.files)), sourceData(path))
  }

  config.on('eleventy.before', () => rmSync(join(root, OUT), { recursive: true, force: true }))
  config.on('eleventy.after', () => finish(navigation))

  return {
    dir: { input: 'site/templates', output: OUT },
    markdownTemplateEngine: false,
    htmlTemplateEngine: false,
    templateFormats: ['md', 'html'],
  }
}

function pageData({ source, output, title }) {
  return { layout: 'page.njk', permalink: output, source, output, title, base: baseOf(output) }
}

function sourceData(path) {
  return { ...pageData({ source: path, output: sourceOutput(path), title: path }), isSource: true }
}

function sourcePage(path, content) {
  return `<h1 id="file"><code>${escapeHtml(path)}</code></h1>\n${content}\n`
}

/** The files of a folder; those with a page as links. */
function listOf(folder, files) {
  const items = entriesOf(folder).map(({ name, path }) => {
    const text = `<code>${escapeHtml(name)}</code>`
    if (!files.includes(path)) return `<li>${text}</li>`
    return `<li><a href="${posix.relative(posix.dirname(sourceOutput(folder)), sourceOutput(path))}">${text}</a></li>`
  })
  return `<ul>\n${items.join('\n')}\n</ul>`
}

/** The sections of a page, for the lists of them. */
function contentsOf(html) {
  return [...html.matchAll(/<h([23]) id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/g)].map(
    ([, level, id, heading]) => ({
      level,
      id,
      // A code of an error is longer than a line of the list.
      heading: heading.replace(/<\/?a\b[^>]*>/g, '').replaceAll('_', '_<wbr>'),
    }),
  )
}

function belowTitle(html, part) {
  return html.replace('</h1>', () => `</h1>${part}`)
}

/** The page of the navigation that a page belongs to: the decision records have one in common. */
function groupPage(output) {
  return output.startsWith('docs/decisions/') ? outputOf('docs/decisions/README.md') : output
}

/** The mark of the page itself, or of the one that it belongs to. */
function currentOf(item, output) {
  if (item.output !== groupPage(output)) return ''
  return item.output === output ? ' aria-current="page"' : ' aria-current="true"'
}

/** What comes before and after a page, where it is first: in the navigation, or among the records. */
function neighboursOf(orders, output) {
  const items = orders.find((order) => order.some((item) => item.output === output)) ?? []
  const i = items.findIndex((item) => item.output === output)
  return i === -1 ? {} : { before: items[i - 1], after: items[i + 1] }
}

/** Among sections that are about a word to the same degree: the pages for users come first, the records last. */
function rankOf(path, background) {
  if (path.startsWith('docs/decisions/')) return 3
  if (background.has(path)) return 2
  if (path.startsWith('docs/guides/')) return 1
  return path.startsWith('docs/') ? 0 : 2
}

function finish(navigation) {
  const pages = new Map()
  const files = new Map()
  const out = join(root, OUT)
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = relative(out, file).replaceAll('\\', '/')
    ;(path.endsWith('.html') ? pages : files).set(path, readFileSync(file, 'utf8'))
  }
  const searched = [...pages].filter(([path]) => !path.startsWith('source/'))
  const { items } = navigation.find(({ title }) => title === 'Background')
  const background = new Set(items.map(({ output }) => output))
  searched.sort(([a], [b]) => rankOf(a, background) - rankOf(b, background))
  const index = searchIndex(new Map(searched))
  writeFileSync(join(out, 'assets/search-index.js'), index)
  files.set('assets/search-index.js', index)

  const problems = problemsOf(pages, files)
  if (problems.length > 0) throw new Error(`the site has mistakes:\n${problems.join('\n')}`)
  console.log(
    `${OUT}/index.html: ${searched.length} pages and ${pages.size - searched.length} sources, every link checked`,
  )
}
