/**
 * Every command in the documents exists: a script of package.json, an example, or the command `ventuno`, which is run
 * here. CI runs the commands that run everything (`npm test`).
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { run } from '../../src/cli/command.ts'
import { type Origins, startOrigins } from './origins.ts'
import { readPages, root } from './pages.ts'

interface Command {
  readonly place: string
  readonly words: readonly string[]
}

const scripts = new Set(
  Object.keys((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts),
)

/** One command for each part of a line between `&&`, without comments and leading variables. */
function commandsIn(line: string): string[][] {
  return line
    .replace(/(?:^|\s)#.*$/, '')
    .split('&&')
    .map((part) => [...part.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!))
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter((words) => words.length > 0)
}

const commands: Command[] = readPages()
  .flatMap((page) => page.blocks)
  .filter((block) => block.language === 'sh')
  .flatMap(({ place, text }) =>
    text.split('\n').flatMap((line) => commandsIn(line).map((words) => ({ place, words }))),
  )

const ours = commands.filter(({ words }) => words[0] === 'npx' && words[1] === 'ventuno')
const others = commands.filter((command) => !ours.includes(command))

function isKnown([program, ...rest]: readonly string[]): boolean {
  const [first, second] = rest.filter((word) => !word.startsWith('--'))
  if (program === 'npm') {
    if (first === 'ci' || first === 'pack') return second === undefined
    if (first === 'start' || first === 'test') return scripts.has(first)
    return first === 'run' && scripts.has(second ?? '')
  }
  return ['node', 'sh', 'bash'].includes(program!) && existsSync(join(root, first ?? 'missing'))
}

describe('the commands in the documents', () => {
  it('exist', () => {
    assert.ok(others.length > 0)
    for (const { place, words } of others) assert.ok(isKnown(words), `${place}: ${words.join(' ')}`)
  })

  it('begin with how to run it and how to test it', () => {
    const [readme] = readPages()
    const lines = readme!.blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trim())
    assert.ok(lines.includes('npm ci && npm start'))
    assert.ok(lines.includes('npm ci && npm test'))
  })
})

/** The lines of the script that run something of the project. */
const gate = readFileSync(join(root, '.ci/run'), 'utf8')
  .split('\n')
  .filter((line) => /^np[mx] /.test(line))
  .flatMap((line) => commandsIn(line.replace(/ \|\| .*/, '').replace(/^npx .* -- /, '')))

describe('the commands of .ci/run', () => {
  it('exist', () => {
    assert.ok(gate.length > 10)
    for (const words of gate) assert.ok(isKnown(words), words.join(' '))
  })

  it('include every test of package.json', () => {
    const named = new Set(gate.map(([, verb, script]) => (verb === 'run' ? script : verb)))
    const missing = [...scripts].filter((name) => name.startsWith('test') && !named.has(name))
    assert.deepEqual(missing, [])
  })
})

describe('the command ventuno in the documents', () => {
  let origins: Origins

  before(async () => {
    origins = await startOrigins()
    process.chdir(origins.folder)
  })

  after(() => {
    process.chdir(root)
    return origins.close()
  })

  it('is there', () => assert.ok(ours.length > 0))

  for (const { place, words } of ours) {
    it(`${place}: ${words.join(' ')}`, async () => {
      let text = ''
      const output = new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString()
          done()
        },
      })
      const code = await run({
        argv: words.slice(2).map((word) => origins.withPorts(word)),
        env: {},
        stdin: Readable.from([]),
        stdout: output,
        stderr: output,
      })
      assert.equal(code, 0, text)
      assert.match(text, /hello|world|a body|requests/)
    })
  }
})
