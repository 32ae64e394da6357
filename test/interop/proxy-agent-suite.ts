/** The suite for ProxyAgent with a real proxy: every kind of target, large bodies, WebSocket, aborts, a proxy that dies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProxyAgent, type ProxyAgentOptions, type ProxyErrorInfo } from '../../src/index.ts'
import type { Backend } from './backend.ts'
import { TRUST } from './certificate-files.ts'
import { digest } from './content.ts'
import type { Credentials } from './forward-proxy.ts'
import { freePort } from './ports.ts'
import { abortUpload, echoThroughWebSocket, failuresUnderLoad, getSmallFrom, UPLOAD } from './proxy-use.ts'

export interface ProxyAgentStage {
  /** Without credentials. */
  proxy(): string
  readonly credentials: Credentials | null
  backend(): Backend
  /** With TLS. */
  secureOrigin(): string
  keep<T extends { destroy(): Promise<unknown> }>(agent: T): T
  /** Why forwarded requests are left out; null if they are not. */
  readonly forwardsNot: string | null
  /** Kills the proxy and starts another at another port. */
  replace(): Promise<void>
}

/** Under load squid 5.7 closes the connection of a larger upload that it forwards, for curl as well. */
const FORWARDED_UPLOAD = UPLOAD.subarray(0, 1024 * 1024)
const GET = { method: 'GET' } as const

export function proxyAgentSuite(stage: ProxyAgentStage): void {
  const open = (options: ProxyAgentOptions = {}): ProxyAgent => {
    const uri = new URL(stage.proxy())
    uri.username = stage.credentials?.name ?? ''
    uri.password = stage.credentials?.password ?? ''
    return stage.keep(new ProxyAgent({ uri, proxyTls: TRUST, requestTls: TRUST, ...options }))
  }
  const plainOrigin = (): string => `http://127.0.0.1:${stage.backend().port}`

  for (const [what, options, isSecure] of [
    ['a forwarded request', {}, false],
    ['a tunnel to HTTP/1.1', { proxyTunnel: true }, false],
    ['a tunnel to HTTP/1.1 with TLS', { allowH2: false }, true],
    ['a tunnel to HTTP/2', {}, true],
  ] as const) {
    const target = (): { origin: string; echo: string } =>
      isSecure
        ? { origin: stage.secureOrigin(), echo: '/' }
        : { origin: plainOrigin(), echo: '/backend/echo' }

    const skip = !isSecure && !('proxyTunnel' in options) ? (stage.forwardsNot ?? false) : false
    const upload = isSecure || 'proxyTunnel' in options ? UPLOAD : FORWARDED_UPLOAD
    test(`${what}: GET, large POST, 200 requests`, { skip }, async () => {
      const agent = open(options)
      const { origin, echo } = target()
      const get = (): Promise<void> => getSmallFrom(agent, origin)
      // First, on a new connection: a proxy may close one that was idle, and a POST is not sent again.
      const { statusCode, body } = await agent.request({ origin, path: echo, method: 'POST', body: upload })
      assert.equal(statusCode, 200)
      assert.equal(digest(await body.bytes()), digest(upload))
      await get()
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          for (let i = 0; i < 10; i++) await get()
        }),
      )
      await agent.close()
    })

    test(`${what}: an upload that is aborted leaves the agent usable`, { skip }, async () => {
      const agent = open(options)
      const { origin, echo } = target()
      await abortUpload(agent, origin, echo)
      await getSmallFrom(agent, origin)
      await agent.close()
    })

    test(`${what}: a proxy that dies under load`, { skip }, async () => {
      const agent = open(options)
      const { origin } = target()
      // Every request settles, and the next proxy works.
      const failures = await failuresUnderLoad(agent, origin, () => stage.replace())
      assert.ok(failures.length > 0)
      await agent.close()
      const next = open(options)
      await getSmallFrom(next, origin)
      await next.close()
    })
  }

  test('an aborted request leaves the agent usable', async () => {
    const agent = open({ proxyTunnel: true })
    const controller = new AbortController()
    const held = agent.request({
      ...GET,
      origin: plainOrigin(),
      path: '/backend/held',
      signal: controller.signal,
    })
    held.catch(() => {})
    await stage.backend().heldOne()
    controller.abort()
    await assert.rejects(held, { name: 'AbortError' })
    stage.backend().release()
    await getSmallFrom(agent, plainOrigin())
    await agent.close()
  })

  for (const [scheme, origin] of [
    ['ws', plainOrigin],
    ['wss', () => stage.secureOrigin()],
  ] as const) {
    test(`WebSocket with ${scheme}:`, async () => {
      const agent = open()
      await echoThroughWebSocket(agent, origin().replace(/^http/, 'ws'))
      await agent.close()
    })
  }

  test('a target that nobody listens at', async () => {
    const agent = open()
    const request = agent.request({ ...GET, origin: `https://127.0.0.1:${await freePort()}`, path: '/' })
    await assert.rejects(request, (error: Error & { code: string; proxy: ProxyErrorInfo }) => {
      assert.equal(error.code, 'UND_ERR_PRX_CONN', error.stack)
      assert.ok(error.proxy.statusCode! >= 500, String(error.proxy.statusCode))
      return true
    })
    await agent.close()
  })

  if (stage.credentials !== null) refusals(stage, plainOrigin)
}

function refusals(stage: ProxyAgentStage, plainOrigin: () => string): void {
  for (const [what, userInfo] of [
    ['no password', ''],
    ['a wrong password', 'somebody:guess@'],
  ] as const) {
    test(`${what}: the error has the answer of the proxy`, async () => {
      const uri = stage.proxy().replace('//', `//${userInfo}`)
      for (const origin of [stage.secureOrigin(), plainOrigin()]) {
        const agent = stage.keep(new ProxyAgent({ uri, proxyTls: TRUST, requestTls: TRUST }))
        const answer = await agent.request({ ...GET, origin, path: '/small.txt' }).catch((error) => error)
        // Some proxies treat a wrong password as one for the origin.
        if (!(answer instanceof Error)) {
          assert.equal(answer.statusCode, 401)
          await answer.body.dump()
        } else {
          const { code, proxy } = answer as Error & { code: string; proxy: ProxyErrorInfo }
          assert.equal(code, 'UND_ERR_PRX_CONN', answer.stack)
          assert.ok(proxy.statusCode === 407 || proxy.statusCode === 401, String(proxy.statusCode))
          assert.ok(proxy.headers !== null)
          assert.ok(!JSON.stringify(answer).includes('guess'))
        }
        await agent.close()
      }
    })
  }
}
