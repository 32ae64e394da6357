/** Our classes assigned manually to the global ones, in separate processes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const library = JSON.stringify(sourceUrl('src/index.ts'))

async function run(program: string): Promise<unknown> {
  const args = [...sourceLoader, '--input-type=module', '--eval', program]
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
    new Request('http://localhost/', { headers: { c: 'd' } }).headers.get('c'),
    await new Response('text').text(),
    form.get('a'),
    response.status,
    await response.text(),
    typeof new MessageEvent('message').data,
  ]
`
const USED = ['b', true, true, 'd', 'text', 'b', 200, 'text', 'object']

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

  test('a form of ours where nothing leads to the one of the runtime', async () => {
    const program = `
      const library = await import(${library})
      globalThis.FormData = library.FormData
      const form = new FormData()
      form.append('a', 1)
      form.append('a', '2')
      form.append('b', new Blob(['x'], { type: 't/x' }))
      form.set('c', new File(['y'], 'name'), 'other')
      form.set('a', '3')
      form.append('d', 'gone')
      form.delete('d')
      const entries = [...form].map(([name, value]) => [name, value.name ?? value])
      const parsed = await new library.Response(form).formData()
      const refused = []
      for (const act of [() => form.append('a'), () => form.append('a', 'b', 'c'), () => new FormData(1)]) {
        try { act() } catch (error) { refused.push(error.name) }
      }
      const each = []
      form.forEach((value, name) => each.push(name))
      console.log(JSON.stringify([
        entries, form.get('a'), form.getAll('none'), form.has('b'), form.get('none'), [...form.keys()], each,
        [...form.values()].length, String(form), form instanceof FormData, await parsed.get('b').text(),
        parsed.get('c').name, refused, Object.keys({ ...form }),
      ]))
    `
    const names = ['a', 'b', 'c']
    const entries = [
      ['a', '3'],
      ['b', 'blob'],
      ['c', 'other'],
    ]
    const errors = ['TypeError', 'TypeError', 'TypeError']
    const last = [3, '[object FormData]', true, 'x', 'other', errors, []]
    assert.deepEqual(await run(program), [entries, '3', [], true, null, names, names, ...last])
  })
})

test('importing the library does not load the HTTP client of the runtime', async () => {
  const program = `
    await import(${library})
    console.log(JSON.stringify(Symbol.for('undici.globalDispatcher.1') in globalThis))
  `
  assert.equal(await run(program), false)
})
