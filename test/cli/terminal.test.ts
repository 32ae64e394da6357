/** The command on a real terminal. */
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: terminals are controlled by them
import assert from 'node:assert/strict'
import net, { type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratchFolder } from '../support/scratch-folder.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { noTerminal, Terminal } from '../support/terminal.ts'
import { H1, H2, start } from './origin.ts'

const main = fileURLToPath(sourceUrl('src/cli/main.ts'))

function ventuno(t: TestContext, argv: readonly string[], columns = 80, env = {}): Terminal {
  return new Terminal(t, [process.execPath, ...sourceLoader, main, ...argv], columns, env)
}

const COLOUR = /\x1b\[\d+m/g
const REPLACED = /\r\x1b\[K/

/** Lines as they are drawn, without colour. */
const linesOf = (text: string): string[] =>
  text
    .replace(COLOUR, '')
    .replaceAll('\r\n', '\n')
    .split(/\n|\r\x1b\[K/)

/** Calls the function again and again until the promise is settled. */
async function until(done: Promise<void>, action: () => void): Promise<void> {
  const timer = setInterval(action, 20)
  await done.finally(() => clearInterval(timer))
}

describe('on a terminal', { skip: noTerminal }, () => {
  for (const columns of [60, 100]) {
    it(`a download has a bar, and it fits ${columns} columns`, async (t) => {
      let send = (): void => {}
      let finish = (): void => {}
      const url = await start(t, H1, (_request, response) => {
        response.writeHead(200, { 'content-length': 1_000_000, 'x-long': 'word '.repeat(60).trim() })
        let sent = 0
        send = () => {
          const piece = Math.min(1000, 500_000 - sent)
          sent += piece
          response.write(Buffer.alloc(piece))
        }
        finish = () => response.end(Buffer.alloc(1_000_000 - sent))
      })
      const terminal = ventuno(t, ['-o', join(scratchFolder(t), 'file'), url], columns)
      await until(terminal.shows(/█+.*░+.* %.* of 1\.00 MB.*\/s.* left/), () => send())
      finish()
      assert.equal(await terminal.ended, 0)
      assert.match(terminal.output, REPLACED)
      assert.match(terminal.output, /saved to /)
      const widths = linesOf(terminal.output).map((line) => [...line].length)
      assert.ok(Math.max(...widths) <= columns, terminal.output)
      assert.ok(Math.max(...widths) > columns - 20)
    })
  }

  for (const way of [H1, H2]) {
    it(`events are shown as they arrive over ${way.protocol}, the report after the last`, async (t) => {
      let send = (_text: string): void => {}
      let end = (): void => {}
      const url = await start(t, way, (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        send = (text) => response.write(text)
        end = () => response.end()
        send('data: first\n\n')
      })
      const terminal = ventuno(t, [...way.options, url])
      await terminal.shows(/data: first\r\n/)
      assert.doesNotMatch(terminal.output, /200/)
      send('data: sec')
      await terminal.shows(/data: sec/)
      send('ond\n\n')
      await terminal.shows(/data: second\r\n/)
      end()
      assert.equal(await terminal.ended, 0)
      assert.match(terminal.output.replace(COLOUR, ''), /data: second\r\n\r\n\r\nGET .*\r\n200/)
    })
  }

  it('Ctrl-C ends a measurement, which then shows what there is', async (t) => {
    const url = await start(t, H1, (_request, response) => response.end('x'))
    const terminal = ventuno(t, ['--duration', '300s', '--concurrency', '2', url])
    await terminal.shows(/ %.*\d requests.*\/s/)
    terminal.press('\x03')
    assert.equal(await terminal.ended, 0)
    const text = terminal.output.replace(COLOUR, '')
    assert.match(text, /interrupted\r\n(.*\r\n)*.*status {4}200 × \d+(.*\r\n)*.*latency {3}p50 /)
  })

  it('Ctrl-C ends a transfer at once', async (t) => {
    const url = await start(t, H1, (_request, response) => response.write('some text\n'))
    const terminal = ventuno(t, [url])
    await terminal.shows(/some text/)
    terminal.press('\x03')
    assert.equal(await terminal.ended, 130)
  })

  it('NO_COLOR is respected', async (t) => {
    const url = await start(t, H1, (_request, response) => response.end('text'))
    const plain = ventuno(t, [url], 80, { NO_COLOR: '1' })
    assert.equal(await plain.ended, 0)
    assert.match(plain.output, /GET http/)
    assert.ok(!plain.output.includes('\x1b'), JSON.stringify(plain.output))
    const coloured = ventuno(t, [url])
    assert.equal(await coloured.ended, 0)
    assert.match(coloured.output, COLOUR)
  })

  it('a server cannot control it', async (t) => {
    const evil = '\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066\x7f\b'
    const latin1 = Buffer.from(evil).toString('latin1')
    const sockets: Socket[] = []
    const server = net.createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      const body = `${evil}\n`
      const head = `HTTP/1.1 200 ${evil.replace(/[\x00-\x1f\x7f]/g, '')}\r\nx-evil: a\x9b31m${latin1.replace(/[\x00-\x1f\x7f]/g, '')}\r\n`
      const type = 'content-type: text/plain; charset=utf-8\r\n'
      socket.once('data', () => {
        socket.write(head, 'latin1')
        socket.end(`${type}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    for (const argv of [[], ['-i'], ['--json'], ['--har', '-'], ['-w', '%header{x-evil}\\n'], ['-v', '-L']]) {
      const terminal = ventuno(t, [...argv, url])
      assert.equal(await terminal.ended, 0, terminal.output)
      assert.match(terminal.output, /evil/)
      const rest = terminal.output.replace(COLOUR, '')
      assert.doesNotMatch(
        rest,
        /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
      )
    }
  })
})
