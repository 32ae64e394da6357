/** Files that grow, and readers that are slow or leave. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from '../support/scratch-folder.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { ended, hashOf, killAt, LargeOrigin, startCommand } from './large-download.ts'
import { command, H1, start, title, WAYS } from './origin.ts'

const program = [...sourceLoader, fileURLToPath(sourceUrl('src/cli/main.ts'))]
const SIZE = 64_000_000

test('a download takes no memory, and goes on at the right byte after the process was killed', async (t) => {
  const file = join(scratchFolder(t), 'file')
  const [small, large] = [await LargeOrigin.start(1000), await LargeOrigin.start(SIZE)]
  for (const origin of [small, large]) t.after(() => origin.close())
  const least = await ended(startCommand(program, ['-o', `${file}.small`, small.url]))
  const size = await killAt(startCommand(program, ['-o', file, large.url]), file, SIZE / 4)
  assert.ok(size >= SIZE / 4 && size < SIZE, String(size))
  const resumed = await ended(startCommand(program, ['-C', '-', '-o', file, large.url]))
  assert.deepEqual([resumed.code, resumed.stderr], [0, ''])
  assert.deepEqual(large.starts, [0, size])
  assert.equal(await hashOf(file), large.hash())
  assert.ok(resumed.peak - least.peak < 30, `${least.peak} MB, then ${resumed.peak} MB`)
})

test('a body does not wait in memory for a pipe that is slow', async (t) => {
  const [small, large] = [await LargeOrigin.start(1000), await LargeOrigin.start(SIZE)]
  for (const origin of [small, large]) t.after(() => origin.close())
  const first = startCommand(program, [small.url])
  first.stdout!.resume()
  const least = await ended(first)
  const child = startCommand(program, [large.url])
  const end = ended(child)
  let size = 0
  for await (const chunk of child.stdout!) {
    size += chunk.length
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
  const { code, peak } = await end
  assert.deepEqual([code, size], [0, SIZE])
  assert.ok(peak - least.peak < 30, `${least.peak} MB, then ${peak} MB`)
})

test('a reader that leaves early ends the command quietly', async (t) => {
  const origin = await LargeOrigin.start(SIZE)
  t.after(() => origin.close())
  const child = startCommand(program, [origin.url])
  const end = ended(child)
  await once(child.stdout!, 'data')
  child.stdout!.destroy()
  const { code, stderr } = await end
  assert.deepEqual([code, stderr], [0, ''])
})

for (const way of WAYS) {
  const text = 'The quick brown fox jumps over the lazy dog.'

  test(`--continue-at over ${title(way)}`, async (t) => {
    const file = join(scratchFolder(t), 'file')
    let answer: 'range' | 'all' | 'other' | 'none' = 'range'
    const asked: unknown[] = []
    const url = await start(t, way, ({ headers: { range } }, response) => {
      asked.push(range)
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
      if (answer === 'none' || from >= text.length) {
        response.writeHead(416, { 'content-range': `bytes */${text.length}` }).end('no')
      } else if (answer === 'all' || from === 0) response.end(text)
      else {
        const shown = answer === 'other' ? from + 1 : from
        response.writeHead(206, { 'content-range': `bytes ${shown}-${text.length - 1}/${text.length}` })
        response.end(text.slice(from))
      }
    })
    const run = (...argv: string[]) => command([...way.options, ...argv, '-o', file, url])
    const saved = (): string => readFileSync(file, 'utf8')

    assert.equal((await run('-C', '-')).code, 0)
    assert.deepEqual([saved(), asked.pop()], [text, undefined])
    writeFileSync(file, text.slice(0, 10))
    assert.equal((await run('-C', '-')).code, 0)
    assert.deepEqual([saved(), asked.pop()], [text, 'bytes=10-'])
    // It is whole.
    assert.deepEqual([(await run('-f', '-C', '-')).code, saved()], [0, text])
    // More than what is asked for is cut off.
    assert.deepEqual([(await run('-C', '4')).code, saved(), asked.pop()], [0, text, 'bytes=4-'])
    answer = 'all'
    writeFileSync(file, 'something else')
    assert.deepEqual([(await run('-C', '-')).code, saved()], [0, text])
    answer = 'other'
    writeFileSync(file, text.slice(0, 10))
    const wrong = await run('-C', '-')
    assert.deepEqual([wrong.code, saved()], [1, text.slice(0, 10)])
    assert.match(
      wrong.stderr.replaceAll('\n', ' '),
      /cannot resume .*: the server did not send what follows byte 10/,
    )
    answer = 'none'
    const refused = await run('-f', '-C', '-')
    assert.deepEqual([refused.code, saved()], [22, text.slice(0, 10)])
  })

  test(`--limit-rate over ${title(way)}`, async (t) => {
    const url = await start(t, way, (_request, response) => response.end(Buffer.alloc(200_000)))
    const began = performance.now()
    const { code, body } = await command([...way.options, '--limit-rate', '500k', url])
    assert.deepEqual([code, body.length], [0, 200_000])
    assert.ok(performance.now() - began >= 350)
  })

  test(`the body of a failure goes to the pipe, and the exit code stays, over ${title(way)}`, async (t) => {
    const url = await start(t, way, (_request, response) => {
      response.writeHead(200, { 'content-length': 10 })
      response.write('half', () => response.destroy())
    })
    const { code, stdout, stderr } = await command([...way.options, url])
    assert.deepEqual([code, stdout], [4, 'half'])
    assert.match(stderr, /^[A-Z_]+: .* while receiving/)
    assert.equal((await command([...way.options, '-s', url])).stderr, '')
    assert.match((await command([...way.options, '-sS', url])).stderr, /^[A-Z_]+: /)
  })
}

test('a file keeps what it has if no body comes, and is not made', async (t) => {
  const folder = scratchFolder(t)
  const [old, fresh] = [join(folder, 'old'), join(folder, 'fresh')]
  writeFileSync(old, 'what it has')
  const url = await start(t, H1, ({ socket }) => socket.destroy())
  for (const file of [old, fresh]) assert.equal((await command(['-o', file, url])).code, 4)
  assert.deepEqual([readFileSync(old, 'utf8'), existsSync(fresh)], ['what it has', false])
  const refusing = await start(t, H1, (_request, response) => response.writeHead(404).end('no'))
  for (const file of [old, fresh]) assert.equal((await command(['-f', '-o', file, refusing])).code, 22)
  assert.deepEqual([readFileSync(old, 'utf8'), existsSync(fresh)], ['what it has', false])
})

test('a device can be the output', { skip: process.platform === 'win32' }, async (t) => {
  const url = await start(t, H1, (_request, response) => response.end('gone'))
  assert.equal((await command(['-o', '/dev/null', url])).code, 0)
  const full = await command(['-o', '/dev/full', url])
  if (existsSync('/dev/full')) assert.deepEqual([full.code, /cannot write/.test(full.stderr)], [1, true])
})

test('--remote-name needs a name, and does not leave the folder', async (t) => {
  const url = await start(t, H1, (_request, response) => response.end('x'))
  const { code, stderr } = await command(['-O', `${url}/folder/`])
  assert.equal(code, 1)
  assert.match(stderr, /--remote-name needs a URL that ends with the name of a file/)
  const folder = scratchFolder(t)
  const before = process.cwd()
  process.chdir(folder)
  t.after(() => process.chdir(before))
  assert.equal((await command(['-O', `${url}/..%2f..%2fevil`])).code, 0)
  assert.ok(existsSync(join(folder, '..%2f..%2fevil')))
})
