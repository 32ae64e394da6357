// The check of the built site: every link leads to a file and a heading that are there, every picture exists, nothing comes
// from elsewhere. Works on text, so that a test can show it broken pages.
import { posix } from 'node:path'

const TAG = /<(a|img|link|script|source|iframe|use)\b([^>]*)>/g
const TARGET = /\b(?:href|src|srcset)="([^"]*)"/g
const ID = /\sid="([^"]*)"/g
/** Rules may not fetch anything, either. */
const CSS_TARGET = /url\(\s*['"]?([^'")]*)|@import/g

/**
 * `pages`: path → HTML of every page. `files`: path → text of all others. Returns a line for each problem; none if
 * the site is sound.
 */
export function problemsOf(pages, files) {
  const ids = new Map()
  const problems = []
  for (const [path, html] of pages) {
    const found = [...html.matchAll(ID)].map(([, id]) => id)
    ids.set(path, new Set(found))
    for (const id of found.filter((name, i) => found.indexOf(name) !== i))
      problems.push(`${path}: two of #${id}`)
  }
  for (const [path, html] of pages) {
    for (const [, name, attributes] of html.matchAll(TAG)) {
      for (const [, target] of attributes.matchAll(TARGET)) {
        const reason = problemOf(path, name, target.replaceAll('&amp;', '&'))
        if (reason !== null) problems.push(`${path}: ${target}: ${reason}`)
      }
    }
  }
  for (const [path, text] of files) {
    if (!path.endsWith('.css')) continue
    for (const [, target] of text.matchAll(CSS_TARGET))
      problems.push(`${path}: ${target}: rules fetch nothing`)
  }
  return problems

  function problemOf(from, name, target) {
    if (/^(?:[a-z]+:|\/\/)/.test(target)) {
      return name === 'a' && /^(?:https?|mailto):/.test(target) ? null : 'comes from elsewhere'
    }
    const [file, anchor] = target.split('#')
    const path = file === '' ? from : posix.join(posix.dirname(from), decodeURI(file))
    if (!pages.has(path) && !files.has(path)) return 'no such file'
    if (anchor === undefined) return null
    return ids.get(path)?.has(decodeURIComponent(anchor)) === true ? null : 'no such heading'
  }
}
