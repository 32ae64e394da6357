/** The suite for any SOCKS 5 proxy: targets over HTTP/1.1, HTTP/1.1 with TLS, and HTTP/2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Socks5ProxyAgent } from '../../src/index.ts'
import type { Backend } from './backend.ts'
import { digest, SMALL, streamOf } from './content.ts'
import { freePort } from './ports.ts'
import { abortUpload, echoThroughWebSocket, failuresUnderLoad, getSmallFrom, UPLOAD } from './proxy-use.ts'

export interface SocksStage {
  /** An agent for the proxy; `allowH2` for its targets. */
  open(options?: { readonly allowH2?: boolean; readonly connections?: number }): Socks5ProxyAgent
  backend(): Backend
  /** HTTP/2 and HTTP/1.1, with TLS. */
  secureOrigin(): string
  /** Kills the proxy and starts another at another port. */
  replace(): Promise<void>
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

    test(`${name}: an upload that is aborted, and the next request`, async () => {
      const agent = stage.open({ allowH2 })
      await abortUpload(agent, origin(stage), echo)
      await getSmallFrom(agent, origin(stage))
      await agent.close()
    })

    test(`${name}: a proxy that is killed under load`, async () => {
      const agent = stage.open({ allowH2 })
      const failures = await failuresUnderLoad(agent, origin(stage), () => stage.replace())
      assert.ok(failures.length > 0)
      for (const error of failures as Failure[]) {
        assert.match(String(error.code), /^(?:ECONN|UND_ERR_SOCK|EPIPE)/, error.stack)
      }
      await agent.destroy()
      const next = stage.open({ allowH2 })
      await getSmallFrom(next, origin(stage))
      await next.close()
    })
  }

  test('names are resolved by the proxy', async () => {
    const agent = stage.open()
    const origin = `http://localhost:${stage.backend().port}`
    const { body } = await agent.request({ origin, path: '/small.txt', method: 'GET' })
    assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
    await agent.close()
  })

  for (const [scheme, origin] of [
    ['ws', () => `http://127.0.0.1:${stage.backend().port}`],
    ['wss', () => stage.secureOrigin()],
  ] as const) {
    test(`a WebSocket with ${scheme}:`, async () => {
      const agent = stage.open()
      await echoThroughWebSocket(agent, origin().replace(/^http/, 'ws'))
      await agent.close()
    })
  }

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
