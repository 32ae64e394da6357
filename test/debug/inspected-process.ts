/**
 * A process of its own that runs the library under the inspector of the runtime, and a session of that inspector: what
 * it sends about the network, and the calls by which the process is told what to request.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

/** It lives until it is killed, or its input ends with the process that started it. */
const PROGRAM = `
  globalThis.ventuno = await import('${sourceUrl('src/index.ts')}')
  process.stdin.resume()
  console.log('ready')
`

const FLAGS = ['--inspect=127.0.0.1:0', '--experimental-network-inspection']

/** Messages have many shapes; each test knows which one it checks. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Params = any

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Params
  readonly result?: Params
  readonly error?: { readonly message: string }
}

export interface NetworkEvent {
  /** Without the name of the domain: `requestWillBeSent`. */
  readonly name: string
  readonly params: Params
}

export class InspectedProcess {
  readonly #child: ChildProcess
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (message: Message) => void>()
  readonly #events: NetworkEvent[] = []
  #lastId = 0

  private constructor(child: ChildProcess, socket: WebSocket) {
    this.#child = child
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.#onMessage(JSON.parse(String(data)) as Message))
    socket.on('close', () => {
      for (const answer of this.#answers.values()) answer({ error: { message: 'the process has ended' } })
    })
  }

  /** Its library is loaded, and its network is watched. */
  static async start(t: TestContext): Promise<InspectedProcess> {
    const args = [...FLAGS, ...sourceLoader, '--input-type=module', '--eval', PROGRAM]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    t.after(async () => {
      child.kill()
      await exited
    })
    const [[url]] = await Promise.all([
      printed(child.stderr!, /ws:\/\/127\.0\.0\.1:\S+/),
      printed(child.stdout!, /ready/),
    ])
    const socket = new WebSocket(url)
    await once(socket, 'open')
    const process_ = new InspectedProcess(child, socket)
    await process_.call('Network.enable')
    return process_
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async call(method: string, params: object = {}): Promise<Params> {
    const id = ++this.#lastId
    const { result, error } = await new Promise<Message>((resolve) => {
      this.#answers.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  /** Runs the body of an async function there, and returns its value, or the message of what it throws. */
  async run(code: string): Promise<unknown> {
    const expression = `(async () => { ${code} })().catch((error) => ({ failed: String(error?.message ?? error) }))`
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    assert.equal(exceptionDetails, undefined)
    return result.value
  }

  /** The events of each request in the order of its creation, the names of each in their order. */
  get requests(): NetworkEvent[][] {
    const byId = new Map<string, NetworkEvent[]>()
    for (const event of this.#events) {
      const { requestId } = event.params as { requestId: string }
      byId.set(requestId, [...(byId.get(requestId) ?? []), event])
    }
    return [...byId.values()]
  }

  #onMessage(message: Message): void {
    const { id, method, params } = message
    if (id !== undefined) {
      this.#answers.get(id)?.(message)
      this.#answers.delete(id)
    } else if (method?.startsWith('Network.') === true) {
      this.#events.push({ name: method.slice('Network.'.length), params })
    }
  }
}

/** Reads on after that: a full pipe would stop the process. */
async function printed(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  return await new Promise((resolve, reject) => {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const found = pattern.exec(text)
      if (found !== null) resolve(found)
    })
    stream.once('end', () => reject(new Error(`the process has ended: ${text}`)))
  })
}
