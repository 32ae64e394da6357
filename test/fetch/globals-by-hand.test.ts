/** Our classes put in the place of the global ones by hand, in processes of their own. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

const library = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)

async function run(program: string): Promise<unknown> {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

/** Uses every class and `fetch`, as found in the global object. */
const USE = `
  const form = new FormData()
  form.append('a', 'b')
  class Mine extends Headers {}
  const response = await fetch('data:,text')
  const used = [
    new Headers({ a: 'b' }).get('a'),
    new Headers() instanceof Headers,
    new Mine() instanceof Headers,
    new Request('http://localhost/', { headers: { c: 'd' } }).headers instanceof Headers,
    await new Response('text').text(),
    form.get('a'),
    response instanceof Response,
    await response.text(),
    typeof new MessageEvent('message').data,
  ]
`
const USED = ['b', true, true, true, 'text', 'b', true, 'text', 'object']

describe('by hand', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['Headers', ['Headers']],
    ['Request', ['Request']],
    ['Response', ['Response']],
    ['FormData', ['FormData']],
    ['fetch', ['fetch']],
    ['the four classes', ['Headers', 'Request', 'Response', 'FormData']],
    [
      'everything that install() makes global',
      [
        'fetch',
        'Headers',
        'Request',
        'Response',
        'FormData',
        'WebSocket',
        'CloseEvent',
        'ErrorEvent',
        'MessageEvent',
      ],
    ],
  ]
  for (const [title, names] of rows) {
    test(title, async () => {
      const program = `
        const library = await import(${library})
        const names = ${JSON.stringify(names)}
        for (const name of names) globalThis[name] = library[name]
        // Ours is used before the runtime has loaded its own for another reason.
        globalThis[names.at(-1)].prototype
        ${USE}
        const kept = names.every((name) => globalThis[name] === library[name])
        console.log(JSON.stringify({ used, kept, define: Object.defineProperties.name }))
      `
      assert.deepEqual(await run(program), { used: USED, kept: true, define: 'defineProperties' })
    })
  }

  test('when the runtime had used its own before the library came', async () => {
    const program = `
      await globalThis.fetch('data:,x')
      const library = await import(${library})
      for (const name of ['fetch', 'Headers', 'Request', 'Response', 'FormData']) globalThis[name] = library[name]
      ${USE}
      console.log(JSON.stringify(used))
    `
    assert.deepEqual(await run(program), USED)
  })

  test('ours, and then theirs again', async () => {
    const program = `
      const library = await import(${library})
      const { Headers: theirs } = globalThis
      globalThis.Headers = library.Headers
      const same = new library.Headers() instanceof theirs
      globalThis.Headers = theirs
      console.log(JSON.stringify([same, new library.Headers() instanceof globalThis.Headers]))
    `
    assert.deepEqual(await run(program), [true, true])
  })

  test('too late: a class that nothing leads to is missed in words', async () => {
    const program = `
      const library = await import(${library})
      await globalThis.fetch('data:,x')
      for (const name of ['Headers', 'Request', 'Response', 'FormData']) globalThis[name] = library[name]
      try {
        new Response()
      } catch (error) {
        console.log(JSON.stringify([error.name, error.message]))
      }
    `
    const words = 'globalThis.Response was replaced before the Response of the runtime could be found'
    assert.deepEqual(await run(program), ['TypeError', words])
  })
})

test('importing the library does not load the HTTP client of the runtime', async () => {
  const program = `
    await import(${library})
    console.log(JSON.stringify(Symbol.for('undici.globalDispatcher.1') in globalThis))
  `
  assert.equal(await run(program), false)
})
