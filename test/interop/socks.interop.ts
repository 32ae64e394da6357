/** SOCKS 5 through microsocks, Dante, OpenSSH, and microsocks with TLS in front of it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Socks5ProxyAgent, type Socks5ProxyAgentOptions } from '../../src/index.ts'
import { Backend } from './backend.ts'
import { TRUST } from './certificate-files.ts'
import { KillableStage } from './killable-stage.ts'
import { describeProgram } from './running-server.ts'
import { startSecureOrigin } from './secure-origin.ts'
import { dante, danteWithUsers, FORBIDDEN } from './servers/dante.ts'
import { microsocks, startMicrosocks } from './servers/microsocks.ts'
import { openssh } from './servers/ssh.ts'
import { startStunnel, stunnel } from './servers/stunnel.ts'
import type { Credentials, SocksProxy } from './socks-proxy.ts'
import { type Failure, type SocksStage, socksSuite } from './socks-suite.ts'
import { Stage } from './stage.ts'

const CREDENTIALS: Credentials = { name: 'some body', password: 'pä:ss@word' }
const GET = { path: '/small.txt', method: 'GET' } as const

class RunningProxy implements SocksStage {
  readonly #stage = new KillableStage()
  readonly #start: (stage: Stage) => Promise<string>
  readonly #credentials: Credentials | null
  readonly #options: Socks5ProxyAgentOptions
  #url = ''
  #secureOrigin = ''
  #backend: Backend | null = null

  constructor(
    credentials: Credentials | null,
    start: (stage: Stage) => Promise<string>,
    options: Socks5ProxyAgentOptions = {},
  ) {
    this.#credentials = credentials
    this.#start = start
    this.#options = options
    before(async () => {
      this.#backend = await Backend.start(this.#stage)
      this.#secureOrigin = await startSecureOrigin(this.#stage)
      this.#url = await start(this.#stage)
    })
    after(() => this.#stage.end())
  }

  open(options: Socks5ProxyAgentOptions = {}): Socks5ProxyAgent {
    const agent = new Socks5ProxyAgent(this.#url, {
      requestTls: TRUST,
      username: this.#credentials?.name,
      password: this.#credentials?.password,
      ...this.#options,
      ...options,
    })
    this.#stage.onEnd(() => agent.destroy())
    return agent
  }

  backend(): Backend {
    return this.#backend!
  }

  secureOrigin(): string {
    return this.#secureOrigin
  }

  async replace(): Promise<void> {
    this.#stage.killPrograms()
    this.#url = await this.#start(this.#stage)
  }
}

function suiteOf(proxy: SocksProxy, credentials: Credentials | null): RunningProxy {
  const running = new RunningProxy(credentials, (stage) => proxy.start(stage, credentials))
  socksSuite(running)
  return running
}

describeProgram('microsocks', microsocks.program, () => {
  suiteOf(microsocks, null)
})

/** The names of the tests are the same for every proxy that wants a password. */
function passwordTests(running: RunningProxy): void {
  test('a wrong password is refused, and so is none', async () => {
    const origin = running.secureOrigin()
    for (const [options, code] of [
      [{ password: 'guess' }, 'UND_ERR_SOCKS5_AUTH_FAILED'],
      [{ username: '', password: '' }, 'UND_ERR_SOCKS5_AUTH_REJECTED'],
    ] as const) {
      const agent = running.open(options)
      await assert.rejects(agent.request({ origin, ...GET }), { name: 'Socks5ProxyError', code })
      await agent.close()
    }
  })
}

describeProgram('microsocks with a password', microsocks.program, () => {
  passwordTests(suiteOf(microsocks, CREDENTIALS))
})

describeProgram('microsocks that comes back', microsocks.program, () => {
  test('every request settles, and those after its restart succeed', async () => {
    const stage = new Stage()
    const backend = await Backend.start(stage)
    const proxy = await startMicrosocks(stage, null)
    const agent = new Socks5ProxyAgent(proxy.url, { connections: 20 })
    const origin = `http://127.0.0.1:${backend.port}`
    const one = async (): Promise<void> => {
      const { body } = await agent.request({ origin, ...GET })
      await body.bytes()
    }
    await one()
    const load = Array.from({ length: 500 }, () => one())
    await Promise.all(load.slice(0, 50))
    proxy.process.kill()
    const results = await Promise.allSettled(load)
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Failure] : [],
    )
    assert.ok(failures.length > 0)
    for (const error of failures) assert.match(String(error.code), /^(?:ECONN|UND_ERR_SOCK|EPIPE)/)
    await assert.rejects(one(), { code: 'ECONNREFUSED' })
    await startMicrosocks(stage, null, proxy.port)
    await one()
    await agent.destroy()
    await stage.end()
  })
})

describeProgram('dante', dante.program, () => {
  const running = suiteOf(dante, null)

  test('a rule that refuses is reply 2', async () => {
    const agent = running.open()
    const origin = `http://${FORBIDDEN}:${running.backend().port}`
    await assert.rejects(agent.request({ origin, ...GET }), (error: Failure) => {
      assert.equal(error.code, 'UND_ERR_SOCKS5_REPLY_2')
      assert.equal(error.message, 'SOCKS5 connection failed: Connection not allowed by ruleset')
      assert.deepEqual([error.proxy?.phase, error.proxy?.reply], ['socks-request', 2])
      assert.equal(error.retrySafety, 'safe')
      return true
    })
    await agent.close()
  })
})

describeProgram('dante with a password', danteWithUsers, () => {
  passwordTests(suiteOf(dante, CREDENTIALS))
})

describeProgram('ssh -D', openssh.program, () => {
  suiteOf(openssh, null)
})

const both = stunnel.program === null ? null : microsocks.program
describeProgram('stunnel in front of microsocks: TLS to the proxy', both, () => {
  socksSuite(
    new RunningProxy(
      CREDENTIALS,
      async (stage) => {
        const { port } = await startMicrosocks(stage, CREDENTIALS)
        return `socks5://localhost:${await startStunnel(stage, port)}`
      },
      { proxyTls: TRUST },
    ),
  )
})
