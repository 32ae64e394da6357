/** The suite for any SOCKS 5 proxy: targets over HTTP/1.1, HTTP/1.1 with TLS, and HTTP/2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Socks5ProxyAgent, WebSocket } from '../../src/index.ts'
import type { Backend } from './backend.ts'
import { digest, pattern, SMALL, streamOf } from './content.ts'
import { freePort } from './ports.ts'

export interface SocksStage {
  /** An agent for the proxy; `allowH2` for its targets. */
  open(options?: { readonly allowH2?: boolean; readonly connections?: number }): Socks5ProxyAgent
  backend(): Backend
  /** HTTP/2 and HTTP/1.1, with TLS. */
  secureOrigin(): string
}

interface Target {
  readonly name: string
  readonly allowH2: boolean
  origin(stage: SocksStage): string
  readonly small: string
  readonly echo: string
}

const TARGETS: readonly Target[] = [
  {
    name: 'HTTP/1.1',
    allowH2: true,
    origin: (stage) => `http://127.0.0.1:${stage.backend().port}`,
    small: '/small.txt',
    echo: '/backend/echo',
  },
  {
    name: 'HTTP/1.1 with TLS',
    allowH2: false,
    origin: (stage) => stage.secureOrigin(),
    small: '/',
    echo: '/',
  },
  { name: 'HTTP/2', allowH2: true, origin: (stage) => stage.secureOrigin(), small: '/', echo: '/' },
]

const UPLOAD = pattern(10 * 1024 * 1024)

export function socksSuite(stage: SocksStage): void {
  for (const { name, allowH2, origin, small, echo } of TARGETS) {
    test(`${name}: GET, 200 times, 20 at a time`, async () => {
      const agent = stage.open({ allowH2 })
      for (let round = 0; round < 10; round++) {
        const answers = Array.from({ length: 20 }, async () => {
          const { body } = await agent.request({ origin: origin(stage), path: small, method: 'GET' })
          assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
        })
        await Promise.all(answers)
      }
      await agent.close()
    })

    test(`${name}: POST of 10 MB, as bytes and as a stream`, async () => {
      const agent = stage.open({ allowH2 })
      for (const sent of [UPLOAD, streamOf(UPLOAD)]) {
        const { body } = await agent.request({
          origin: origin(stage),
          path: echo,
          method: 'POST',
          body: sent,
        })
        assert.equal(digest(await body.bytes()), digest(UPLOAD))
      }
      await agent.close()
    })

    test(`${name}: an abort, and the next request`, async () => {
      const agent = stage.open({ allowH2 })
      const controller = new AbortController()
      const upload = agent.request({
        origin: origin(stage),
        path: echo,
        method: 'POST',
        body: streamOf(UPLOAD),
        signal: controller.signal,
      })
      setImmediate(() => controller.abort())
      await assert.rejects(upload, { name: 'AbortError' })
      const { body } = await agent.request({ origin: origin(stage), path: small, method: 'GET' })
      assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
      await agent.close()
    })
  }

  test('names are resolved by the proxy', async () => {
    const agent = stage.open()
    const origin = `http://localhost:${stage.backend().port}`
    const { body } = await agent.request({ origin, path: '/small.txt', method: 'GET' })
    assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
    await agent.close()
  })

  test('a WebSocket', async () => {
    const agent = stage.open()
    const socket = new WebSocket(`ws://127.0.0.1:${stage.backend().port}/`, { dispatcher: agent })
    socket.binaryType = 'arraybuffer'
    const received = new Promise<ArrayBuffer>((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(data as ArrayBuffer)
      socket.onerror = reject
    })
    socket.onopen = () => socket.send(UPLOAD)
    assert.equal(digest(new Uint8Array(await received)), digest(UPLOAD))
    const closed = new Promise((resolve) => {
      socket.onclose = resolve
    })
    socket.close()
    await closed
    await agent.close()
  })

  test('a target without a listener: the error says so', async () => {
    const agent = stage.open()
    const origin = `http://127.0.0.1:${await freePort()}`
    await assert.rejects(agent.request({ origin, path: '/', method: 'GET' }), (error: Failure) => {
      // Some proxies open the tunnel before they know, and close it again.
      if (error.code === 'UND_ERR_SOCKET') return true
      assert.match(String(error.code), /^UND_ERR_SOCKS5(?:_REPLY_[145])?$/)
      assert.equal(error.proxy?.phase, 'socks-request')
      return true
    })
    await agent.close()
  })
}

export type Failure = Error & {
  readonly code?: string
  readonly retrySafety?: string
  readonly proxy?: { readonly phase: string; readonly reply: number | null }
}
