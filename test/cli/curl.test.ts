/**
 * The command lines of docs/cli.md that curl understands as well: both are run against the origin of the documents,
 * and what they print, save and send is compared.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { adviceFor } from '../../src/cli/curl-options.ts'
import { type Origins, startOrigins } from '../docs/origins.ts'
import { readPages, root } from '../docs/pages.ts'
import { command } from './origin.ts'

const [, version] = /^curl (\d+\.\d+)/.exec(String(spawnSync('curl', ['--version']).stdout)) ?? []
/** Debian 12 has this version; an older one writes forms in another way. */
const skip = Number(version?.split('.')[0] ?? 0) >= 7 ? false : 'curl is not installed'

const lines = readPages()
  .find(({ path }) => path === 'docs/cli.md')!
  .blocks.filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.trim().split('\n'))
  .map((line) => line.replace('$ ventuno ', ''))

/** Forwards to a port, and keeps what comes from the client. */
class Tap {
  readonly #server: net.Server
  readonly #sockets = new Set<Socket>()
  #received: Buffer[][] = []

  constructor(port: number) {
    this.#server = net.createServer((near) => {
      const chunks: Buffer[] = []
      this.#received.push(chunks)
      const far = net.connect(port, '127.0.0.1')
      for (const socket of [near, far]) this.#sockets.add(socket.on('error', () => {}))
      near.on('data', (chunk: Buffer) => chunks.push(chunk))
      near.pipe(far).pipe(near)
    })
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  /** The requests since the last call. */
  take(): Sent[] {
    const all = this.#received.flatMap((chunks) => requestsIn(Buffer.concat(chunks).toString('latin1')))
    this.#received = []
    return all
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

interface Sent {
  readonly line: string
  readonly fields: readonly string[]
  readonly body: string
}

/** As both must send it. */
function requestsIn(bytes: string): Sent[] {
  const list: Sent[] = []
  for (let rest = bytes; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n')
    const lengthIn = (each: string): number => Number(/^content-length: (\d+)/i.exec(each)?.[1] ?? 0)
    const length = Math.max(0, ...fields.map(lengthIn))
    const body = rest.slice(end + 4, end + 4 + length)
    list.push({ line, fields: fields.map(comparable).filter(isCompared).sort(), body: unbounded(body) })
    rest = rest.slice(end + 4 + length)
  }
  return list
}

function comparable(given: string): string {
  const [, name, value] = /^([^:]+): ?(.*)$/s.exec(given)!
  const field = `${name!.toLowerCase()}: ${unbounded(value!)}`
  // What each can decode depends on how it was built.
  return field.startsWith('accept-encoding')
    ? field
        .replace(/, zstd/, '')
        .split(/[:,] /)
        .sort()
        .join()
    : field
}

/** Both make their boundaries up, and they have as many signs as they like. */
const unbounded = (text: string): string => text.replace(/-{24}\w+/g, 'BOUNDARY')

function isCompared(field: string): boolean {
  return !/^(?:connection: keep-alive$|user-agent: (?:curl|ventuno)\/)/.test(field)
}

/** The files of a folder; of cookies, what they say. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => name !== 'examples')
  const read = (name: string): string => {
    const text = readFileSync(join(folder, name), 'latin1')
    if (name !== 'jar.txt') return text
    const cookies = text.split('\n').filter((each) => /\t/.test(each))
    return cookies
      .map((each) => each.replace(/\t\d{9,}\t/, '\tlater\t'))
      .sort()
      .join('\n')
  }
  return Object.fromEntries(names.sort().map((name) => [name, read(name)]))
}

describe('command lines of curl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-curl-'))
  let origins: Origins
  let tap: Tap
  let place: (text: string) => string
  let number = 0

  before(async () => {
    origins = await startOrigins()
    const portOf = (port: number): string => origins.withPorts(`localhost:${port}`).split(':')[1]!
    tap = new Tap(Number(portOf(3000)))
    const tapped = String(await tap.listen())
    place = (text) =>
      text.replace(/:(3\d{3})\b/g, (_, port) => `:${port === '3000' ? tapped : portOf(Number(port))}`)
  })

  after(async () => {
    process.chdir(root)
    tap.close()
    await origins.close()
    rmSync(folder, { recursive: true })
  })

  /** A folder with what the lines read. */
  function prepare(): string {
    const path = join(folder, String(number++))
    mkdirSync(path)
    symlinkSync(join(root, 'examples'), join(path, 'examples'), 'dir')
    writeFileSync(join(path, 'data.txt'), 'first line\nü & more\r\n')
    writeFileSync(join(path, 'part.txt'), 'x'.repeat(1_048_000))
    writeFileSync(
      join(path, 'cookies.txt'),
      '# Netscape HTTP Cookie File\nlocalhost\tFALSE\t/\tFALSE\t0\tsaved\tyes\n',
    )
    return path
  }

  it('are at least forty', () => assert.ok(lines.length >= 40, String(lines.length)))

  for (const line of lines) {
    it(line, async () => {
      const words = [...place(line).matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
      const own = prepare()
      process.chdir(own)
      tap.take()
      const ours = await command(words)
      const sent = tap.take()
      const isRefused = /(?:-s?f |--fail)/.test(line)
      assert.deepEqual([ours.code, /^\S*$/.test(ours.stderr) || ours.stderr], [isRefused ? 22 : 0, true])
      if (skip !== false) return
      const other = prepare()
      const theirs = await new Promise<{ code: number; stdout: string }>((resolve) => {
        const env = { PATH: process.env['PATH'], HOME: other }
        execFile(
          'curl',
          ['-q', ...words],
          { cwd: other, env, encoding: 'latin1', maxBuffer: 1e8 },
          (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }),
        )
      })
      const undated = (text: string): string => text.replace(/^Date: .*$/gm, 'Date')
      assert.equal(undated(ours.body.toString('latin1')), undated(theirs.stdout))
      assert.equal(ours.code, theirs.code)
      assert.deepEqual(filesIn(own), filesIn(other))
      const shown = (list: Sent[]): Sent[] =>
        list.map(({ line, fields, body }) => {
          const hasForm = fields.some((field) => field.includes('multipart/'))
          return { line, body, fields: fields.filter((field) => !(hasForm && /^content-length/.test(field))) }
        })
      assert.deepEqual(shown(sent), shown(tap.take()))
    })
  }
})

describe('options of curl', () => {
  it('are known, or answered with what to use instead', { skip }, async () => {
    const help = String(spawnSync('curl', ['--help', 'all']).stdout)
    const options = [...help.matchAll(/^ *(?:(-\S), )? *--([\w.-]+)/gm)]
    assert.ok(options.length > 200)
    for (const [, short, name] of options) {
      for (const option of [`--${name}`, ...(short === undefined ? [] : [short])]) {
        // Without a URL, one that is known complains about that, or about its value.
        const { stderr } = await command([option])
        if (/Unknown option/.test(stderr)) assert.ok(adviceFor(option) !== null, option)
      }
    }
  })

  it('say so on standard error', async () => {
    const { code, stderr } = await command(['--digest', 'http://localhost'])
    assert.equal(code, 1)
    assert.match(stderr, /^USAGE: Unknown option '--digest' \(it is curl's\): -u sends basic credentials/)
  })
})
