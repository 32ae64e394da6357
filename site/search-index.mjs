// The index of the search: which words each section has. Built from the finished pages; site/assets/search.js reads it.
//
// It is a script that sets one global, because pages opened from a folder may load scripts and nothing else:
// `sections`: [path, anchor, title of the page, heading, text]; `words`, sorted: [word, the sections that have it], each
// section as `section * 4 + weight`.

/**
 * How much a section is about a word: in its text, a part of a name in its heading or the title above it, its heading or what a
 * row of a table is about, the title of its page.
 */
const WEIGHT = { text: 0, part: 1, heading: 2, title: 3 }

/** Records tell what was done once. Their titles are sentences, and would come before the pages that users need. */
const RECORD = /\/decisions\/\d/

/** Nobody types longer ones: they are keys and hashes. */
const MOST_LETTERS = 40

/** `pages`: path → HTML. Only what is in `<main>` counts. */
export function searchIndex(pages) {
  const sections = []
  const words = new Map()
  for (const [path, html] of pages) {
    const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? ''
    let title = ''
    for (const { level, anchor, heading, text, subjects } of sectionsIn(main)) {
      if (level === 1) title = heading
      const number =
        sections.push([path, level === 1 ? '' : anchor, title, level === 1 ? '' : heading, text]) - 1
      const weights = new Map()
      add(weights, text, WEIGHT.text)
      // "Options" of which class is only in the title.
      if (!RECORD.test(path)) add(weights, title, WEIGHT.part)
      add(weights, subjects, WEIGHT.heading)
      add(weights, heading, level === 1 && !RECORD.test(path) ? WEIGHT.title : WEIGHT.heading)
      for (const [word, weight] of weights) {
        if (!words.has(word)) words.set(word, [])
        words.get(word).push(number * 4 + weight)
      }
    }
  }
  const sorted = [...words].sort(([a], [b]) => (a < b ? -1 : 1))
  return `globalThis.searchIndex = ${JSON.stringify({ sections, words: sorted })}\n`
}

function sectionsIn(main) {
  const parts = main
    .replaceAll('<wbr>', '')
    .replace(/<svg[\s\S]*?<\/svg>/g, ' ')
    .replace(/<(footer|nav)\b[\s\S]*?<\/\1>/g, ' ')
    .split(/(?=<h[1-4]\b)/)
  return parts.flatMap((part) => {
    const match = /^<h([1-4])\b[^>]*?\sid="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/.exec(part)
    if (match === null) return []
    const [head, level, anchor, heading] = match
    const body = part.slice(head.length)
    return {
      level: Number(level),
      anchor,
      heading: textOf(heading),
      text: textOf(body),
      subjects: subjectsOf(body),
    }
  })
}

function textOf(html) {
  return html
    .replace(/<[^>]*>/g, (tag) => (/^<\/?(?:code|em|strong|a|span)\b/.test(tag) ? '' : ' '))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The names in the first column of the tables: options, errors. */
function subjectsOf(html) {
  const cells = [...html.matchAll(/<tr[^>]*>\s*<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell]) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/<code>(\w+)<\/code>/g)].map(([, name]) => name)).join(' ')
}

/**
 * The words of a text, and with less weight their parts: `RetryAgent` is more about itself than about `retry`. A digit is a
 * word, because of HTTP/2, for which many type `http2`; and keep-alive is also `keepalive`.
 */
function add(weights, text, weight) {
  const raise = (word, by) => {
    if (word.length > 1 || /\d/.test(word)) weights.set(word, Math.max(by, weights.get(word) ?? 0))
  }
  for (const [, digit] of text.matchAll(/\bHTTP\/(\d)/g)) raise(`http${digit}`, weight)
  for (const [word] of text.matchAll(/\p{L}+(?:-\p{L}+)+/gu))
    if (word.length <= MOST_LETTERS) raise(word.replaceAll('-', '').toLowerCase(), weight)
  for (const [word] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    if (word.length > MOST_LETTERS) continue
    raise(word.toLowerCase(), weight)
    const parts = word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)
    for (const part of parts)
      if (part.length > 2) raise(part.toLowerCase(), Math.max(WEIGHT.text, weight - 1))
  }
}
