// The search: words that begin as those typed, in all sections of all pages. The index is loaded at the first use.
const base = document.documentElement.dataset.base
const box = document.querySelector('search')
const query = document.getElementById('query')
const results = document.getElementById('results')
/** For those who hear the page: it stays in it, because what comes into a page as a whole is not read out. */
const status = document.getElementById('found')
const MOST = 12
/** By their number in the index (site/search-index.mjs). */
const WEIGHTS = [1, 3, 6, 20]
/** A section that is called as what was typed comes after a page with that in its title, and before all others. */
const EXACT = 20

/** null until it has arrived. */
let index = null
let isAsked = false

box.hidden = false

function loadIndex() {
  if (isAsked) return
  isAsked = true
  const script = document.createElement('script')
  script.src = `${base}assets/search-index.js`
  script.addEventListener('load', () => {
    index = globalThis.searchIndex
    show()
  })
  document.head.append(script)
}

/** Section → weight, for all words that begin with these letters; a whole word counts twice. */
function sectionsWith(letters) {
  const { words } = index
  const found = new Map()
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (words[middle][0] < letters) low = middle + 1
    else high = middle
  }
  for (; low < words.length && words[low][0].startsWith(letters); low++) {
    const [word, entries] = words[low]
    for (const entry of entries) {
      const weight = WEIGHTS[entry % 4] * (word === letters ? 2 : 1)
      const section = entry >> 2
      found.set(section, Math.max(weight, found.get(section) ?? 0))
    }
  }
  return found
}

/** They say nothing about what is wanted, as in "how to set a timeout". */
const EMPTY = new Set('a an and can do for from how i in is it my of on or t the to what why with'.split(' '))

const WORD = /[\p{L}\p{N}_]+/gu

function wordsOf(text) {
  const words = text.toLowerCase().match(WORD) ?? []
  const full = words.filter((word) => !EMPTY.has(word))
  return full.length > 0 ? full : words
}

/** Without its ending, a word that nothing has may be there in another form: `migrate` is, as "migrating". */
function sectionsFor(word) {
  const found = sectionsWith(word)
  const stem = word.replace(/(?:ies|ing|es|ed|s|e|y)$/, '')
  return found.size > 0 || stem.length < LEAST ? found : sectionsWith(stem)
}

/** The sections that have all of the words; if none has, those that have most of them. */
function search(text) {
  const words = wordsOf(text)
  const all = new Map()
  for (const [section, weight] of words.flatMap((word) => [...sectionsFor(word)])) {
    const { count, sum } = all.get(section) ?? { count: 0, sum: isNamed(section, text) ? EXACT : 0 }
    all.set(section, { count: count + 1, sum: sum + weight })
  }
  const sorted = [...all].sort(([a, x], [b, y]) => y.count - x.count || y.sum - x.sum || a - b)
  const most = sorted[0]?.[1].count ?? 0
  return {
    hasAll: most === words.length,
    sections: sorted
      .filter(([, { count }]) => count === most)
      .slice(0, MOST)
      .map(([section]) => index.sections[section]),
  }
}

/** Shorter words are one slip from too many others. */
const LEAST = 4

/** What may have been meant: with the most frequent word that is one slip away in the place of each that nothing has. */
function meantBy(text) {
  return text.replace(WORD, (typed) => {
    const letters = typed.toLowerCase()
    if (letters.length < LEAST || sectionsFor(letters).size > 0) return typed
    const near = index.words.filter(([word]) => isOneSlip(letters, word))
    return near.sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? typed
  })
}

/** Whether a letter is missing, is too many or is another one, or two have changed places. */
function isOneSlip(a, b) {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return (
    a.slice(i) === b.slice(i + 1) ||
    a.slice(i + 1) === b.slice(i) ||
    a.slice(i + 1) === b.slice(i + 1) ||
    (a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2))
  )
}

/** Whether a section, or a page if it is the first one of it, is called exactly so. */
function isNamed(section, text) {
  const [, , title, heading] = index.sections[section]
  return (heading || title).toLowerCase() === text.toLowerCase()
}

function show() {
  const text = query.value.trim()
  if (text === '') hide()
  else if (index !== null) {
    const meant = meantBy(text)
    showSections(search(meant), text, meant)
  }
}

function showSections({ sections, hasAll }, typed, text) {
  results.hidden = false
  const hint = document.createElement('p')
  if (sections.length === 0) hint.textContent = `Nothing has “${typed}”`
  else if (!hasAll) hint.textContent = `Nothing has all of “${typed}”. These have a part of it:`
  else if (text !== typed) hint.textContent = `Nothing has “${typed}”. These have “${text}”:`
  status.textContent =
    hint.textContent || (sections.length === 1 ? 'One result' : `${sections.length} results`)
  const list = document.createElement('ul')
  for (const [path, anchor, title, heading, content] of sections) {
    const link = document.createElement('a')
    link.href = base + path + (anchor === '' ? '' : `#${anchor}`)
    const name = document.createElement('strong')
    name.textContent = heading === '' ? title : `${title} › ${heading}`
    link.append(name, excerptOf(content, text))
    const item = document.createElement('li')
    item.append(link)
    list.append(item)
  }
  results.replaceChildren(hint, list)
}

/** The text around the longest of the words that are in it, which is marked: it says more than "set". */
function excerptOf(content, text) {
  const words = wordsOf(text).sort((a, b) => b.length - a.length)
  const letters = words.find((word) => content.toLowerCase().includes(word)) ?? ''
  const at = content.toLowerCase().indexOf(letters)
  const from = at < 60 ? 0 : content.indexOf(' ', at - 50) + 1
  const start = from > at ? at : from
  const excerpt = document.createElement('span')
  const marked = document.createElement('mark')
  if (content.toLowerCase().startsWith(letters, at))
    marked.textContent = content.slice(at, at + letters.length)
  const end = at + marked.textContent.length
  const space = content.indexOf(' ', end + 100)
  const stop = space === -1 ? content.length : space
  const more = stop < content.length ? ' …' : ''
  excerpt.append(start > 0 ? '… ' : '', content.slice(start, at), marked, content.slice(end, stop), more)
  return excerpt
}

function hide() {
  results.hidden = true
  status.textContent = ''
}

query.addEventListener('focus', loadIndex)
query.addEventListener('focus', show)
query.addEventListener('input', show)

box.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (event.key === 'Escape' && !results.hidden) {
    query.focus()
    hide()
  } else if (event.key === 'ArrowDown' && at < links.length - 1) links[at + 1].focus()
  else if (event.key === 'ArrowUp' && at >= 0) (links[at - 1] ?? query).focus()
  else if (event.key === 'Enter' && at === -1 && links.length > 0) links[0].click()
  else return
  event.preventDefault()
})

// Also when a result on the same page was chosen.
box.addEventListener('click', ({ target }) => {
  if (target.closest('a') !== null) hide()
})
document.addEventListener('focusin', ({ target }) => {
  if (!box.contains(target)) hide()
})
document.addEventListener('pointerdown', ({ target }) => {
  if (!box.contains(target)) hide()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.matches('input, textarea')) return
  event.preventDefault()
  query.focus()
})
