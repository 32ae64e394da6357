/** The built site in a real browser, opened from its folder. `npm run test:site` builds it and runs this. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Browser } from './browser.mjs'
import { focused, overhang, paleTexts, shown, wide } from './looks.mjs'

const site = fileURLToPath(new URL('../../site/out/', import.meta.url))
const home = pathToFileURL(site).href
const shots = mkdtempSync(join(tmpdir(), 'ventuno-site-'))

/** Pages with everything that can be on one. */
const VARIED = [
  'index.html',
  'docs/client.html',
  'docs/performance.html',
  'docs/conformance.html',
  'docs/errors.html',
]

const documents = readdirSync(site, { recursive: true, withFileTypes: true })
  .map((entry) => relative(site, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.html') && !path.startsWith('source/'))

let browser
let page

before(async () => {
  console.log(`screenshots: ${shots}`)
  browser = new Browser(process.env.CHROMIUM ?? 'chromium')
  page = await browser.newPage()
})

after(() => browser.close())

const shot = (name) => page.screenshot(join(shots, `${name}.png`))

async function desktop(scheme = 'light') {
  await page.resize(1440, 900)
  await page.prefer(scheme)
}

describe('the site on a desk', () => {
  before(() => desktop())

  it('begins with the README, and names the pages of each group', async () => {
    await page.open(`${home}index.html`)
    assert.equal(await page.run(() => document.querySelector('h1').textContent), 'ventuno')
    const groups = await page.run(() =>
      [...document.querySelectorAll('#navigation summary')].map(({ textContent }) => textContent),
    )
    for (const group of ['Start', 'Send a request', 'Test', 'Guides', 'Background', 'Project']) {
      assert.ok(groups.includes(group), group)
    }
    await shot('home-light')
  })

  it('has a page for a class, which is marked in the list of pages', async () => {
    await page.open(`${home}docs/client.html`)
    assert.equal(await page.run(() => document.querySelector('h1').textContent), 'Client')
    assert.deepEqual(await page.run(shown, '[aria-current]'), [true])
    assert.ok((await page.run(() => document.querySelectorAll('.contents a').length)) > 3)
    await shot('reference-light')
  })

  it('shows all columns of the figures on the first page', async () => {
    for (const width of [1440, 1280, 1024]) {
      await page.resize(width, 900)
      await page.open(`${home}index.html`)
      assert.deepEqual(await page.run(shown, '.figures'), [true])
      assert.deepEqual(await page.run(wide, '.figures'), [], `${width} px`)
    }
    await desktop()
  })

  it('shows where a page is in the list of pages, also in a low window and on a phone', async () => {
    const isSeen = () => {
      const { top, bottom } = document.querySelector('[aria-current]').getBoundingClientRect()
      return top > 0 && bottom < innerHeight && scrollY === 0
    }
    for (const path of ['docs/guides/migrating', 'docs/conformance', 'docs/client']) {
      await page.resize(1280, 600)
      await page.open(`${home}${path}.html`)
      assert.equal(await page.run(isSeen), true, path)
      await page.resize(360, 600, true)
      await page.open(`${home}${path}.html`)
      await page.run(async () => {
        const opened = new Promise((resolve) => {
          document.getElementById('navigation').addEventListener('toggle', () => resolve(), { once: true })
        })
        document.querySelector('.menu').click()
        await opened
      })
      assert.equal(await page.run(isSeen), true, `${path} on a phone`)
    }
    await desktop()
  })

  it('ends its bar where the columns end, also in a wide window', async () => {
    for (const width of [1280, 1920]) {
      await page.resize(width, 900)
      await page.open(`${home}docs/client.html`)
      const [name, list, theme, sections] = await page.run(() =>
        ['.home', '#navigation', '.theme', '.contents'].map((selector) => {
          const { left, right } = document.querySelector(selector).getBoundingClientRect()
          return { left, right }
        }),
      )
      assert.equal(name.left, list.left)
      assert.equal(theme.right, sections.right)
    }
    await desktop()
  })

  it('leads from a decision record to the ones beside it', async () => {
    await page.open(`${home}docs/decisions/002-write-in-groups.html`)
    const names = await page.run(() =>
      [...document.querySelectorAll('.neighbours a')].map(({ pathname }) =>
        pathname.split('/').pop().slice(0, 3),
      ),
    )
    assert.deepEqual(names, ['001', '003'])
  })

  it('gives the source of a program the room beside it', async () => {
    await page.open(`${home}source/examples/origin.mjs.html`)
    const [text, top] = await page.run(() =>
      ['main', '.top'].map((selector) => document.querySelector(selector).clientWidth),
    )
    assert.ok(text > top * 0.65, `${text} of ${top} px`)
  })

  it('sets the lines of a program no further apart than those of the text', async () => {
    await page.open(`${home}docs/client.html`)
    const [space, size] = await page.run(() => {
      const code = document.querySelector('pre code')
      const { paddingTop, paddingBottom } = getComputedStyle(code.parentElement)
      const height =
        code.parentElement.clientHeight - Number.parseFloat(paddingTop) - Number.parseFloat(paddingBottom)
      const lines = code.textContent.trim().split('\n').length
      return [height / lines, Number.parseFloat(getComputedStyle(code).fontSize)]
    })
    assert.ok(space < size * 1.7, `${space} px for letters of ${size} px`)
  })

  it('shows all columns of the widest figures', async () => {
    await page.open(`${home}docs/performance.html`)
    assert.deepEqual(await page.run(wide, '.figures'), [])
  })

  it('breaks no pair of figures', async () => {
    await page.resize(1280, 900)
    await page.open(`${home}docs/performance.html`)
    const lines = await page.run(() =>
      [...document.querySelectorAll('td')]
        .filter(({ textContent }) => /^[\d.]+ \/ [\d.]+$/.test(textContent))
        .map((cell) => {
          const range = document.createRange()
          range.selectNodeContents(cell)
          return range.getClientRects().length
        }),
    )
    assert.ok(lines.length > 10)
    assert.equal(Math.max(...lines), 1)
    await desktop()
  })

  it('shows all columns of tables with long names, also on a tablet', async () => {
    for (const width of [1280, 1024, 768]) {
      await page.resize(width, 900)
      for (const path of [
        'SECURITY',
        'docs/client',
        'docs/dispatcher',
        'docs/guides/migrating',
        'docs/h2c-client',
        'docs/redirect',
      ]) {
        await page.open(`${home}${path}.html`)
        assert.deepEqual(await page.run(wide, '.table:not(.figures)'), [], `${path}, ${width} px`)
      }
    }
    await desktop()
  })

  it('has a link in each section that leads to it, and is seen with the focus', async () => {
    await page.open(`${home}docs/client.html`)
    const links = await page.run(() =>
      [...document.querySelectorAll('main :is(h2, h3, h4)')].map(({ id, children }) => [
        id,
        children.item(children.length - 1).hash,
      ]),
    )
    assert.ok(links.length > 3)
    for (const [id, hash] of links) assert.equal(hash, `#${id}`)
    const opacity = () => getComputedStyle(document.querySelector('h2 .anchor')).opacity
    assert.equal(await page.run(opacity), '0')
    await page.run(() => document.querySelector('h2 .anchor').focus({ focusVisible: true }))
    assert.equal(await page.run(opacity), '1')
  })

  it('draws charts with readable texts, each with a table', async () => {
    for (const name of ['performance', 'conformance']) {
      await page.open(`${home}docs/${name}.html`)
      const charts = await page.run(() =>
        [...document.querySelectorAll('.chart')].map((chart) => ({
          bars: chart.querySelectorAll('.bar').length,
          rows: chart.querySelectorAll('tr').length,
          least: Math.min(
            ...[...chart.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height),
          ),
        })),
      )
      assert.ok(charts.length > 0, name)
      for (const { bars, rows, least } of charts) {
        assert.ok(bars > 1)
        assert.equal(rows, bars)
        assert.ok(least >= 12, `a text of ${least} px`)
      }
      const notes = await page.run(() =>
        [...document.querySelectorAll('.chart')].map(({ textContent }) => textContent),
      )
      for (const text of notes)
        assert.equal(text.includes('ventuno ×'), text.includes('median of one ratio per round'))
      await page.run(() => document.querySelector('.chart').scrollIntoView())
      await shot(`${name}-light`)
    }
  })
})

describe('the search', () => {
  const announced = () => document.querySelector('search [role=status]').textContent

  before(() => desktop())

  it('finds what is typed, and leads there', async () => {
    await page.open(`${home}docs/guides/timeouts.html`)
    await page.run(() => document.getElementById('query').focus())
    await page.type('keepalivetim')
    await page.appears('#results a')
    assert.match(await page.run(() => document.getElementById('results').textContent), /keepAliveTimeout/)
    const links = await page.run(() => document.querySelectorAll('#results a').length)
    assert.equal(await page.run(announced), `${links} results`)
    assert.deepEqual(await page.run(paleTexts), [])
    await shot('search-light')
    await page.press('ArrowDown')
    const target = await page.run(() => document.activeElement.href)
    await page.loads(() => page.press('Enter'))
    assert.equal(await page.run(() => location.href), target)
    assert.ok(target.startsWith(home))
    assert.match(await page.run(() => document.querySelector('main').textContent), /keepAliveTimeout/)
  })

  it('puts the page of a class first, and the section of an error', async () => {
    for (const [word, path] of [
      ['BalancedPool', 'docs/balanced-pool.html'],
      ['mockagent', 'docs/mock-agent.html'],
      ['fetch', 'docs/fetch.html'],
      ['retry', 'docs/retry.html'],
      ['connections', 'docs/connections.html'],
      ['http/2', 'docs/guides/http2.html'],
      ['http2', 'docs/guides/http2.html'],
      ['keepalive', 'docs/guides/keep-alive.html'],
      ['getting started', 'docs/index.html'],
      ['NODE_DEBUG', 'docs/debug-output.html'],
      ['SSE', 'docs/event-source.html'],
      ['SSRF', 'docs/guard.html'],
      ['websocket ping', 'docs/websocket.html#pingsocket-payload'],
      ['UND_ERR_SOCKET', 'docs/errors.html#und_err_socket'],
      ['keepAliveTimeoutThreshold', 'docs/client.html#time-limits'],
    ]) {
      await page.open(`${home}index.html`)
      await page.run(() => document.getElementById('query').focus())
      await page.type(word)
      await page.appears('#results a')
      assert.equal(await page.run(() => document.querySelector('#results a').href), home + path)
      assert.match(await page.run(announced), /^(?:\d+ results|One result)$/)
    }
  })

  it('has pages for users before the records of decisions', async () => {
    for (const word of ['request', 'connection']) {
      await page.open(`${home}index.html`)
      await page.run(() => document.getElementById('query').focus())
      await page.type(word)
      await page.appears('#results a')
      const first = await page.run(() =>
        [...document.querySelectorAll('#results a')].slice(0, 5).map(({ href }) => href),
      )
      assert.deepEqual(
        first.filter((href) => href.includes('/decisions/')),
        [],
      )
    }
  })

  it('finds what was meant by a slip, and says so', async () => {
    for (const [typed, meant, path] of [
      ['tiemout', 'timeout', 'docs/guides/timeouts.html'],
      ['RetyrAgent', 'retryagent', 'docs/retry-agent.html'],
      ['keepalivetimout', 'keepalivetimeout', 'docs/client.html#time-limits'],
    ]) {
      await page.open(`${home}index.html`)
      await page.run(() => document.getElementById('query').focus())
      await page.type(typed)
      await page.appears('#results a')
      assert.equal(await page.run(announced), `Nothing has “${typed}”. These have “${meant}”:`)
      assert.equal(await page.run(() => document.querySelector('#results a').href), home + path)
    }
    await shot('search-slip')
  })

  it('answers a question: with the words that matter, in another form, and with some if none has all', async () => {
    for (const [typed, path, marked] of [
      ['how to set timeout', 'docs/guides/timeouts.html', 'Timeout'],
      [
        'migrate from axios',
        'docs/guides/migrating.html#from-axios-got-ky-node-fetch-and-superagent',
        'axios',
      ],
      ['qwertyuiop retry', 'docs/retry.html', 'retry'],
    ]) {
      await page.open(`${home}index.html`)
      await page.run(() => document.getElementById('query').focus())
      await page.type(typed)
      await page.appears('#results a')
      assert.equal(await page.run(() => document.querySelector('#results a').href), home + path)
      assert.equal(await page.run(() => document.querySelector('mark').textContent), marked)
    }
    assert.equal(await page.run(announced), 'Nothing has all of “qwertyuiop retry”. These have a part of it:')
  })

  it('says if nothing was found, and closes', async () => {
    await page.open(`${home}index.html`)
    await page.run(() => document.getElementById('query').focus())
    await page.type('qwertyuiop')
    await page.appears('#results p')
    assert.equal(await page.run(announced), 'Nothing has “qwertyuiop”')
    assert.equal(
      await page.run(() => document.querySelector('#results p').textContent),
      'Nothing has “qwertyuiop”',
    )
    await page.press('Escape')
    assert.equal(await page.run(() => document.getElementById('results').hidden), true)
    assert.equal(await page.run(announced), '')
    await page.press('Escape')
    assert.equal(await page.run(() => document.getElementById('query').value), '')
  })
})

describe('the colours', () => {
  after(() => page.run(() => localStorage.clear()))

  for (const scheme of ['light', 'dark']) {
    it(`have enough contrast where ${scheme} ones are preferred`, async () => {
      await desktop(scheme)
      for (const path of VARIED) {
        await page.open(home + path)
        // What is folded up is text, too.
        await page.run(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        assert.deepEqual(await page.run(paleTexts), [], path)
      }
    })
  }

  it('are dark where that is preferred', async () => {
    await desktop('dark')
    for (const [name, path] of [
      ['home', 'index.html'],
      ['reference', 'docs/client.html'],
      ['performance', 'docs/performance.html'],
    ]) {
      await page.open(home + path)
      if (name === 'performance') await page.run(() => document.querySelector('.chart').scrollIntoView())
      await shot(`${name}-dark`)
    }
    assert.equal(await page.run(() => getComputedStyle(document.documentElement).colorScheme), 'light dark')
    assert.equal(await page.run(backgroundIsDark), true)
  })

  it('are those of the switch, also on the next page', async () => {
    await desktop('light')
    await page.open(`${home}index.html`)
    assert.equal(await page.run(backgroundIsDark), false)
    await page.run(() => document.getElementById('theme-dark').click())
    assert.equal(await page.run(backgroundIsDark), true)
    await page.open(`${home}docs/pool.html`)
    assert.equal(await page.run(backgroundIsDark), true)
    await page.run(() => document.getElementById('theme-auto').click())
    assert.equal(await page.run(backgroundIsDark), false)
  })
})

function backgroundIsDark() {
  const [red] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)
  return Number(red) < 128
}

describe('the site on a phone', () => {
  before(async () => {
    await page.prefer('light')
    await page.resize(360, 740, true)
  })

  it('has no page wider than the window, and scrolls no table but those of figures', async () => {
    for (const path of documents) {
      await page.open(home + path)
      assert.equal(await page.run(overhang), 0, path)
      assert.deepEqual(await page.run(wide, '.table:not(.figures)'), [], path)
    }
  })

  it('has its list of pages behind a button', async () => {
    await page.open(`${home}docs/client.html`)
    assert.deepEqual(await page.run(shown, '#navigation'), [false])
    await shot('phone-reference')
    await page.run(() => document.querySelector('.menu').click())
    assert.deepEqual(await page.run(shown, '#navigation'), [true])
    await shot('phone-menu')
  })

  it('has its whole bar in the window, also with letters of twice the size', async () => {
    await page.call('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
    await page.open(`${home}docs/client.html`)
    const parts = await page.run(() =>
      ['.menu', '.home', '#query', '.theme'].map((selector) => {
        const { left, right, width } = document.querySelector(selector).getBoundingClientRect()
        return { selector, isWhole: left >= 0 && right <= innerWidth && width > 40 }
      }),
    )
    await shot('phone-large-letters')
    await page.call('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } })
    for (const { selector, isWhole } of parts) assert.ok(isWhole, selector)
  })

  it('has the sections of a page folded below its title', async () => {
    await page.open(`${home}docs/errors.html`)
    assert.deepEqual(await page.run(shown, '.folded a', '.contents'), [false, false])
    await page.run(() => document.querySelector('.folded summary').click())
    assert.deepEqual(await page.run(shown, '.folded a'), [true])
    assert.deepEqual(await page.run(paleTexts), [])
    await shot('phone-sections')
    await desktop()
    assert.deepEqual(await page.run(shown, '.folded'), [false])
    await page.resize(360, 740, true)
  })

  it('keeps the names of the rows beside the last figures', async () => {
    await page.open(`${home}docs/performance.html`)
    const [name, table] = await page.run(async () => {
      const table = document.querySelector('.figures')
      table.scrollLeft = table.scrollWidth
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
      return [table.querySelector('td'), table].map((element) => element.getBoundingClientRect().left)
    })
    assert.equal(name, table)
    const shade = () => getComputedStyle(document.querySelector('.figures td'), '::after').opacity
    assert.equal(await page.run(shade), '1')
    await page.open(`${home}docs/performance.html`)
    assert.equal(await page.run(shade), '0')
    await shot('phone-figures')
  })

  it('has the figures of a chart as a table in two lines at most', async () => {
    await page.open(`${home}docs/performance.html`)
    const most = await page.run(() => {
      for (const details of document.querySelectorAll('.chart details')) details.open = true
      return Math.max(
        ...[...document.querySelectorAll('.chart td:last-child')].map((cell) => {
          const range = document.createRange()
          range.selectNodeContents(cell)
          return new Set([...range.getClientRects()].map(({ top }) => top)).size
        }),
      )
    })
    assert.equal(most, 2)
  })

  it('shows tables and charts', async () => {
    await page.open(`${home}docs/client.html`)
    await page.run(() => document.querySelector('.cards').scrollIntoView())
    await shot('phone-table')
    await page.open(`${home}docs/conformance.html`)
    await page.run(() => document.querySelector('.chart').scrollIntoView())
    await shot('phone-chart')
    await page.open(`${home}index.html`)
    await shot('phone-home')
  })
})

describe('the site without JavaScript', () => {
  before(async () => {
    await desktop()
    await page.withoutScripts(true)
  })
  after(() => page.withoutScripts(false))

  it('has all but the search', async () => {
    await page.open(`${home}docs/client.html`)
    assert.deepEqual(await page.run(shown, 'search', '[aria-current]'), [false, true])
    await shot('reference-without-javascript')
  })

  it('has a switch for the colours', async () => {
    await page.open(`${home}index.html`)
    await page.run(() => document.getElementById('theme-dark').click())
    assert.equal(await page.run(backgroundIsDark), true)
  })

  it('opens its list of pages on a phone', async () => {
    await page.resize(360, 740, true)
    await page.open(`${home}index.html`)
    await page.run(() => document.querySelector('.menu').click())
    assert.deepEqual(await page.run(shown, '#navigation'), [true])
  })
})

describe('the site on paper', () => {
  before(async () => {
    await page.resize(760, 1000)
    await page.prefer('dark', 'print')
  })
  after(() => page.prefer('light'))

  it('is dark on light, and whole', async () => {
    await page.open(`${home}docs/pool.html`)
    assert.equal(await page.run(backgroundIsDark), false)
    assert.deepEqual(await page.run(wide, 'pre'), [])
    assert.deepEqual(await page.run(shown, '.skip', '.top'), [false, false])
    await shot('paper')
    await page.open(`${home}docs/performance.html`)
    assert.deepEqual(await page.run(wide, '.table'), [])
  })
})

describe('the keyboard', () => {
  before(() => desktop())

  it('reaches everything, and one sees where it is', async () => {
    await page.open(`${home}docs/client.html`)
    const names = []
    for (let i = 0; i < 14; i++) {
      await page.press('Tab')
      const { name, isInWindow, isMarked } = await page.run(focused)
      assert.ok(isInWindow, `${name} is in the window`)
      assert.ok(isMarked, `${name} shows that it has the focus`)
      names.push(name)
    }
    assert.equal(names[0], 'a Skip to the text')
    for (const name of ['a ventuno', 'input query', 'input theme-auto', 'summary Start']) {
      assert.ok(names.includes(name), `${name} in ${names.join(', ')}`)
    }
  })

  it('skips to the text', async () => {
    await page.open(`${home}docs/client.html`)
    await page.press('Tab')
    await shot('keyboard')
    await page.press('Enter')
    await page.press('Tab')
    assert.equal(await page.run(() => document.querySelector('main').contains(document.activeElement)), true)
  })
})

describe('all that was opened', () => {
  it('came from the folder', () => {
    assert.ok(page.requests.length > documents.length)
    assert.deepEqual(
      page.requests.filter((url) => !url.startsWith(home)),
      [],
    )
  })

  it('had nothing to complain about', () => assert.deepEqual(page.complaints, []))
})
