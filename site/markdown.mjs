// How the documents become HTML: names of headings, targets of links, tables that fit a phone, code with colours, and
// charts in the place of their marks. Gets markdown-it from Eleventy.
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import json from 'highlight.js/lib/languages/json'
import typescript from 'highlight.js/lib/languages/typescript'
import yaml from 'highlight.js/lib/languages/yaml'
import { anchorOf } from './pages.mjs'

// The grammar of TypeScript reads JavaScript, too.
for (const [name, grammar] of Object.entries({ bash, diff, go, json, typescript, yaml })) {
  hljs.registerLanguage(name, grammar)
}

const LANGUAGES = {
  cjs: 'typescript',
  mjs: 'typescript',
  mts: 'typescript',
  js: 'typescript',
  javascript: 'typescript',
  ts: 'typescript',
  sh: 'bash',
  diff: 'diff',
  go: 'go',
  json: 'json',
  yml: 'yaml',
}

/** `<!-- chart: name -->`, or the picture that shows the same chart where pages are only displayed. */
const CHART = /^<!-- chart: ([\w-]+) -->$/
const PICTURE = /^!\[[^\]]*\]\((?:[\w./]*\/)?performance\.svg\)$/

/** A figure and, behind it, from where to where it went. */
const RANGE = /^([\d.,]+) (\([\d.,–]+\))$/

/** Where a name of a table may be broken. One that cannot be would push the last columns out of sight. */
const JOINT = /(?<=[\w)][./_(])(?=\w)|(?<=\p{Ll})(?=\p{Lu})/gu

/** Shorter names stay in one piece. */
const LONG_NAME = /[\w./()]{18,}/g

/** A table with so many columns has no room for names of that length. */
const MANY_COLUMNS = 6
const NAME_AMONG_MANY = /[\w./()]{9,}/g

/** A cell with a figure, or two: "0.5 / 1.2". A table of such scrolls, because its columns are there to be compared. */
const FIGURE = /^[<≤≥]?[\d.,]+(?: \/ [\d.,]+)? ?(?:[%×a-zµ]+|\([\d.,–]+\))?$/

export function highlight(code, language) {
  const name = LANGUAGES[language]
  return name === undefined ? escapeHtml(code) : hljs.highlight(code, { language: name }).value
}

/**
 * `resolve(source, target)`: where a link leads on the site. `chart(name)`: the HTML of a chart.
 * A page's data has `source`, the path of the document.
 */
export function setUpMarkdown(md, { resolve, chart }) {
  md.set({ html: true, linkify: false, highlight })
  md.core.ruler.push('site', (state) => {
    const names = new Map()
    const { tokens, env } = state
    for (const [i, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const heading = tokens[i + 1].children.map(({ content }) => content).join('')
        const id = unique(anchorOf(heading), names)
        token.attrSet('id', id)
        if (token.tag !== 'h1') tokens[i + 2].meta = { id }
      } else if (token.type === 'table_open') {
        arrangeTable(tokens, i)
      } else if (token.type === 'inline') {
        for (const child of token.children) {
          if (child.type === 'link_open') child.attrSet('href', resolve(env.source, child.attrGet('href')))
          else if (child.type === 'html_inline') refuseHtml(child.content, env)
        }
      }
    }
  })
  md.core.ruler.before('block', 'picture', (state) => {
    state.src = state.src.replace(new RegExp(PICTURE, 'gm'), '<!-- chart: requests -->')
  })
  // A section has a link to itself, to be copied.
  md.renderer.rules.heading_close = (tokens, i) => {
    const { tag, meta } = tokens[i]
    const link =
      meta === null ? '' : `<a class="anchor" href="#${meta.id}" aria-label="Link to this section"></a>`
    return `${link}</${tag}>\n`
  }
  md.renderer.rules.html_block = (tokens, i, _options, env) => {
    const content = tokens[i].content.trim()
    refuseHtml(content, env)
    const name = CHART.exec(content)?.[1]
    return name === undefined ? '' : chart(name)
  }
  md.renderer.rules.html_inline = () => ''
  for (const rule of ['text', 'code_inline']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (tokens, i, ...more) => {
      const html = render(tokens, i, ...more)
      const { names } = tokens[i].meta ?? {}
      return names === undefined ? html : breakable(html, names)
    }
  }
  md.renderer.rules.table_open = (tokens, i) => {
    const kind = tokens[i].meta.kind
    const roles = kind === 'cards' ? ' role="table"' : ''
    // Who has no mouse must be able to scroll it.
    const reach = kind === 'figures' ? ' tabindex="0" role="group" aria-label="Table"' : ''
    return `<div class="table ${kind}"${reach}><table${roles}>\n`
  }
  md.renderer.rules.table_close = () => '</table></div>\n'
}

function breakable(html, names) {
  return html
    .replace(names, (name) => name.replace(JOINT, '<wbr>'))
    .replace(RANGE, '$1 <span class="range">$2</span>')
}

/** Comments are for those who write; anything else would be a mistake, such as a type in angle brackets. */
function refuseHtml(content, env) {
  if (!/^(?:<!--[\s\S]*?-->\s*)+$/.test(content))
    throw new Error(`${env.source}: HTML in the text: ${content}`)
}

/** A second heading of the same name gets a number, as on forges. */
function unique(name, names) {
  const count = names.get(name) ?? 0
  names.set(name, count + 1)
  return count === 0 ? name : `${name}-${count}`
}

/**
 * On a phone, tables of words with three columns or more become a card for each row. Each cell then needs the name of its
 * column; and roles, because cells that are no longer displayed as such are no table to a screen reader.
 */
function arrangeTable(tokens, start) {
  const end = tokens.findIndex((token, i) => i > start && token.type === 'table_close')
  const table = tokens.slice(start, end)
  const textAfter = (token) => tokens[tokens.indexOf(token) + 1].content
  const heads = table.filter(({ type }) => type === 'th_open').map(textAfter)
  const cells = table.filter(({ type }) => type === 'td_open')
  const compared = cells.filter((_cell, i) => i % heads.length > 0).map(textAfter)
  const figures = compared.filter((text) => FIGURE.test(text))
  const kind = figures.length * 2 > compared.length ? 'figures' : heads.length >= 3 ? 'cards' : 'words'
  tokens[start].meta = { kind }
  const names = heads.length < MANY_COLUMNS ? LONG_NAME : NAME_AMONG_MANY
  for (const child of table.flatMap(({ children }) => children ?? [])) child.meta = { ...child.meta, names }
  if (heads.every((head) => head === ''))
    for (const token of table) if (token.type === 'thead_open') token.attrSet('class', 'empty')
  if (kind !== 'cards') return
  const roles = {
    thead_open: 'rowgroup',
    tbody_open: 'rowgroup',
    tr_open: 'row',
    th_open: 'columnheader',
    td_open: 'cell',
  }
  for (const token of table) if (roles[token.type]) token.attrSet('role', roles[token.type])
  for (const [i, cell] of cells.entries())
    cell.attrSet('data-column', heads[i % heads.length].replaceAll('`', ''))
}

export function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
