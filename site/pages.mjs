// The documents of the project as pages of the site: where each one goes, where a link leads, and how the navigation
// groups them. Knows nothing of Eleventy or of HTML.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The list of all pages, whose order and groups the navigation takes over. */
const INDEX = 'docs/README.md'

const PAPERS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']

/** Files that documents link to and that are text get a page of their own. */
const SOURCE = /\.(?:[cm]?[jt]s|sh|go|json|ya?ml)$|^LICENSE$/

/** `[text](target)`, outside of images. */
const LINK = /(?<!!)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g

/**
 * Every document: its path from the root, its text, and the file of the site that it becomes. The papers, all of docs/, and
 * what these link to elsewhere.
 */
export function readDocuments() {
  const documents = new Map()
  const sources = [...PAPERS, ...markdownFiles('docs')]
  for (const source of sources) {
    const text = readFileSync(join(root, source), 'utf8')
    documents.set(source, { source, output: outputOf(source), title: titleOf(text) ?? source, text })
    for (const path of linkedFrom(source, text)) {
      if (path.endsWith('.md') && !sources.includes(path)) sources.push(path)
    }
  }
  return [...documents.values()]
}

/** Paths of existing files and folders. */
function linkedFrom(source, text) {
  const targets = [...withoutCode(text).matchAll(LINK)].map(([, , target]) => pathOf(source, target))
  return targets.filter((path) => path !== null && existsSync(join(root, path)))
}

function markdownFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '')
}

/** The same tree as that of the documents, so that relative links differ in nothing but the ending. */
export function outputOf(source) {
  return source.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')
}

/** The text of a document without its blocks of code and the code in its lines. */
export function withoutCode(text) {
  return text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '``')
}

/** The files and folders of the repository, other than documents, that the documents link to, and what is in those folders. */
export function readSources(documents) {
  const known = new Set(documents.map(({ source }) => source))
  const files = new Set()
  const folders = new Set()
  for (const { source, text } of documents) {
    for (const path of linkedFrom(source, text)) {
      if (known.has(path)) continue
      if (statSync(join(root, path)).isDirectory()) folders.add(path)
      else if (SOURCE.test(posix.basename(path))) files.add(path)
    }
  }
  for (const folder of folders) {
    for (const { name, path } of entriesOf(folder)) if (SOURCE.test(name)) files.add(path)
  }
  return { files: [...files].sort(), folders: [...folders].sort() }
}

/** The files of a folder, by name. */
export function entriesOf(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, path: `${folder}/${name}` }))
}

/** The file of the site that shows a file or a folder of the repository. */
export function sourceOutput(path) {
  return `source/${path}.html`
}

/** The path from the root that a target in a document stands for; null for anything but a relative path. */
function pathOf(source, target) {
  const [file] = target.split('#')
  if (file === '' || /^[a-z]+:/.test(file)) return null
  return posix.join(posix.dirname(source), file).replace(/\/$/, '')
}

/**
 * A function from a document and a target in it to the target on the site. What is not on the site stays as it is: the
 * check of the built pages finds it.
 */
export function linkResolver(documents, { files, folders }) {
  const outputs = new Map(documents.map(({ source, output }) => [source, output]))
  for (const path of [...files, ...folders]) outputs.set(path, sourceOutput(path))
  return (source, target) => {
    const output = outputs.get(pathOf(source, target))
    if (output === undefined) return target
    const [, anchor] = target.split('#')
    const path = posix.relative(posix.dirname(outputOf(source)), output)
    return anchor === undefined ? path : `${path}#${anchor}`
  }
}

/** `../../` for a page two folders down: how it reaches the root of the site, also without a server. */
export function baseOf(output) {
  return '../'.repeat(output.split('/').length - 1)
}

/** The name by which a link finds a heading, as forges make it. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll('`', '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** Groups of `{ title, output }`, from the lists of docs/README.md. */
export function navigationOf(documents) {
  const text = documents.find(({ source }) => source === INDEX).text
  const groups = [
    group('Start', [
      ['ventuno', '../README.md'],
      ['Documentation', 'README.md'],
    ]),
  ]
  for (const [, heading, body] of sectionOf(text, 'By task').matchAll(
    /^### (.+)\n([\s\S]*?)(?=^### |$(?![\s\S]))/gm,
  )) {
    groups.push(group(heading, linksIn(body.replace(/^(?!\|).*$/gm, ''))))
  }
  for (const heading of ['Guides', 'Background']) {
    groups.push(
      group(
        heading,
        linksIn(sectionOf(text, heading)).map(([name, target]) => [capital(name), target]),
      ),
    )
  }
  const papers = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
  groups.push(
    group(
      'Project',
      papers.map((name) => [capital(name.replace('.md', '').toLowerCase()), `../${name}`]),
    ),
  )
  return groups
}

function group(title, links) {
  const items = links.map(([name, target]) => ({ title: name, output: outputOf(pathOf(INDEX, target)) }))
  return { title, items }
}

function sectionOf(text, heading) {
  const section = new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## )`, 'm').exec(text)
  if (section === null) throw new Error(`${INDEX} has no section "${heading}"`)
  return section[1]
}

/** Every link to a document, once, in order. */
function linksIn(text) {
  const links = new Map()
  for (const [, name, target] of text.matchAll(LINK)) {
    if (target.endsWith('.md') && !links.has(target))
      links.set(target, name.replaceAll('`', '').replace(/\s+/g, ' '))
  }
  return [...links].map(([target, name]) => [name, target])
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1)
}
