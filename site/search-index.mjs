// The index of the search: which words each section has. Built from the finished pages; site/assets/search.js reads it.
//
// It is a script that sets one global, because pages opened from a folder may load scripts and nothing else:
// `sections`: [path, anchor, title of the page, heading, text]; `words`: word → the sections that have it, each as
// `section * 4 + weight`.

/** How much a section is about a word: in its text, its heading or what a row of a table is about, the title of its page. */
const WEIGHT = { text: 1, heading: 2, title: 3 }

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
      for (const word of wordsIn(text)) weights.set(word, WEIGHT.text)
      for (const word of subjects) weights.set(word, WEIGHT.heading)
      for (const word of wordsIn(heading)) weights.set(word, level === 1 ? WEIGHT.title : WEIGHT.heading)
      for (const [word, weight] of weights) {
        if (!words.has(word)) words.set(word, [])
        words.get(word).push(number * 4 + weight)
      }
    }
  }
  const sorted = Object.fromEntries([...words].sort(([a], [b]) => (a < b ? -1 : 1)))
  return `globalThis.searchIndex = ${JSON.stringify({ sections, words: sorted })}\n`
}

function sectionsIn(main) {
  const parts = main
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
  return cells.flatMap((cell) =>
    [...cell.matchAll(/<code>(\w+)<\/code>/g)].map(([, name]) => name.toLowerCase()),
  )
}

/** Words as a reader would type them: `keepAliveTimeout` is one, and so are its parts. */
export function wordsIn(text) {
  const words = new Set()
  for (const [word] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    if (word.length > 40) continue
    words.add(word.toLowerCase())
    const parts = word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)
    if (parts.length > 1) for (const part of parts) if (part.length > 2) words.add(part.toLowerCase())
  }
  return [...words].filter((word) => word.length > 1)
}
