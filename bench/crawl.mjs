// The traffic of a crawler: pages of many origins, each request with another path, another referrer and another cookie.
// The pages are HTML of the same length with different texts, compressed with gzip as servers send them.
import { gzipSync } from 'node:zlib'

export const ORIGINS = 20
export const PAGES_PATH = '/pages/'
/** UTF-16 units, which is what the length of a text counts. In UTF-8 a page is a little longer. */
export const PAGE_LENGTH = 20 * 1024
export const PAGES = 16

const FIXED = {
  'user-agent': 'Mozilla/5.0 (compatible; bench/1.0)',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.9',
  'accept-encoding': 'gzip',
}

/** Returns a function that makes the next request, with its `origin`. */
export function crawlTraffic({ ports, path }) {
  const origins = ports.pages.map((port) => `http://127.0.0.1:${port}`)
  let count = Math.floor(Math.random() * 2 ** 40)
  return function nextRequest() {
    count++
    const id = count.toString(16).padStart(12, '0')
    const origin = origins[count % origins.length]
    return {
      origin,
      path: `${path}${count % PAGES}/${id}-a-page-of-this-site.html?from=list`,
      headers: {
        ...FIXED,
        referer: `${origin}/list/${count % 10_007}.html`,
        cookie: `visit=${id}; consent=1`,
      },
      body: undefined,
    }
  }
}

const WORDS =
  'the of and to in is it that for was on are with as café be by not this have from or one at but naïve list page site text read more about first other time people which their there what when your them some would make like into look two write see number way could than been call who its now find long down day did get come made may part over new sound take only little work know place year live me back give most very after thing our just name good sentence man think say great where help through much before line right too mean old any same tell boy follow came want show also around form three small set put end does another well large must big even such because turn here why ask went men need land different home us move try kind hand picture again change off play spell air away animal house point mother world near build self earth father — head'.split(
    ' ',
  )

/** Page `index`, compressed. */
export function compressedPage(index) {
  // A linear congruential generator: the same pages in each run.
  let seed = index * 7919 + 1
  const next = (limit) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return Math.floor(seed / 2 ** 8) % limit
  }
  const sentence = (length) => Array.from({ length }, () => WORDS[next(WORDS.length)]).join(' ')
  let html = `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${sentence(5)}</title></head>\n<body>\n`
  const end = '</body>\n</html>\n'
  while (html.length < PAGE_LENGTH) {
    const link = `<a class="link" href="/pages/${next(PAGES)}/${next(2 ** 20)}.html">${sentence(3)}</a>`
    html += `<article class="item" id="item-${next(2 ** 20)}">\n<h2>${sentence(4)}</h2>\n<p>${sentence(30)}. ${link}</p>\n</article>\n`
  }
  return gzipSync(html.slice(0, PAGE_LENGTH - end.length) + end)
}
