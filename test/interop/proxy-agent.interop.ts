/** ProxyAgent through Squid, Tinyproxy, Apache httpd, and over HTTP/2 through nghttpx and HAProxy. */
import { after, before } from 'node:test'
import { Backend } from './backend.ts'
import type { Credentials } from './forward-proxy.ts'
import { KillableStage } from './killable-stage.ts'
import { type ProxyAgentStage, proxyAgentSuite } from './proxy-agent-suite.ts'
import { describeProgram } from './running-server.ts'
import { startSecureOrigin } from './secure-origin.ts'
import { apache } from './servers/apache.ts'
import { haproxy, startHaproxyBefore } from './servers/haproxy.ts'
import { nghttpx, startHttp2Proxy } from './servers/nghttpx.ts'
import { squid } from './servers/squid.ts'
import { startTinyproxy, tinyproxy } from './servers/tinyproxy.ts'
import type { Stage } from './stage.ts'

const CREDENTIALS: Credentials = { name: 'somebody', password: 'sesame' }

class RealProxy implements ProxyAgentStage {
  readonly credentials: Credentials | null
  readonly forwardsNot: string | null
  readonly #stage = new KillableStage()
  readonly #start: (stage: Stage, backend: Backend) => Promise<string>
  #proxy = ''
  #secureOrigin = ''
  #backend: Backend | null = null

  constructor(
    credentials: Credentials | null,
    start: (stage: Stage, backend: Backend) => Promise<string>,
    forwardsNot: string | null = null,
  ) {
    this.credentials = credentials
    this.forwardsNot = forwardsNot
    this.#start = start
    before(async () => {
      this.#backend = await Backend.start(this.#stage)
      this.#secureOrigin = await startSecureOrigin(this.#stage)
      this.#proxy = await start(this.#stage, this.#backend)
    })
    after(() => this.#stage.end())
  }

  proxy(): string {
    return this.#proxy
  }

  secureOrigin(): string {
    return this.#secureOrigin
  }

  backend(): Backend {
    return this.#backend!
  }

  keep<T extends { destroy(): Promise<unknown> }>(agent: T): T {
    this.#stage.onEnd(() => agent.destroy())
    return agent
  }

  async replace(): Promise<void> {
    this.#stage.killPrograms()
    this.#proxy = await this.#start(this.#stage, this.#backend!)
  }
}

for (const proxy of [squid, tinyproxy]) {
  describeProgram(`${proxy.name} with ProxyAgent`, proxy.program, () => {
    proxyAgentSuite(new RealProxy(CREDENTIALS, (stage) => proxy.start(stage, CREDENTIALS)))
  })
}

describeProgram('apache2 with ProxyAgent', apache.program, () => {
  proxyAgentSuite(new RealProxy(null, async (stage, backend) => (await apache.start(stage, backend)).proxy))
})

// These two need another proxy that opens the actual tunnel.
for (const [name, program, startBefore, forwardsNot] of [
  [
    'nghttpx',
    nghttpx.program,
    startHttp2Proxy,
    'nghttpx sends requests on connections that tinyproxy closes after each response',
  ],
  ['haproxy', haproxy.program, startHaproxyBefore, null],
] as const) {
  const both = program === null ? null : tinyproxy.program
  describeProgram(`${name} in front of tinyproxy with ProxyAgent`, both, () => {
    const start = async (stage: Stage): Promise<string> =>
      startBefore(stage, new URL(await startTinyproxy(stage, CREDENTIALS)))
    proxyAgentSuite(new RealProxy(CREDENTIALS, start, forwardsNot))
  })
}
