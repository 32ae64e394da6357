/** Tunnels through Squid, Tinyproxy, Apache httpd, and nghttpx, which takes CONNECT over HTTP/2. */
import { after, before } from 'node:test'
import { Client } from '../../src/index.ts'
import { Backend } from './backend.ts'
import { TRUST } from './certificate-files.ts'
import type { Credentials } from './forward-proxy.ts'
import { describeProgram } from './running-server.ts'
import { startSecureOrigin } from './secure-origin.ts'
import { apache } from './servers/apache.ts'
import { nghttpx, startHttp2Proxy } from './servers/nghttpx.ts'
import { squid } from './servers/squid.ts'
import { startTinyproxy, tinyproxy } from './servers/tinyproxy.ts'
import { Stage } from './stage.ts'
import { plainProxySuite, type TunnelStage, tunnelSuite } from './tunnel-suite.ts'

const CREDENTIALS: Credentials = { name: 'somebody', password: 'sesame' }

class ProxyStage implements TunnelStage {
  readonly credentials: Credentials | null
  readonly #stage = new Stage()
  #proxy = ''
  #secureOrigin = ''
  #backend: Backend | null = null

  constructor(credentials: Credentials | null, start: (stage: Stage, backend: Backend) => Promise<string>) {
    this.credentials = credentials
    before(async () => {
      this.#backend = await Backend.start(this.#stage)
      this.#secureOrigin = await startSecureOrigin(this.#stage)
      this.#proxy = await start(this.#stage, this.#backend)
    })
    after(() => this.#stage.end())
  }

  open(): Client {
    return this.keep(new Client(this.#proxy, { connect: TRUST }))
  }

  secureOrigin(): string {
    return this.#secureOrigin
  }

  backend(): Backend {
    return this.#backend!
  }

  keep<T extends { destroy(): Promise<unknown> }>(client: T): T {
    this.#stage.onEnd(() => client.destroy())
    return client
  }
}

for (const proxy of [squid, tinyproxy]) {
  describeProgram(proxy.name, proxy.program, () => {
    const stage = new ProxyStage(CREDENTIALS, (stage) => proxy.start(stage, CREDENTIALS))
    tunnelSuite(stage)
    plainProxySuite(stage, CREDENTIALS)
  })
}

describeProgram('apache2 as a forward proxy', apache.program, () => {
  tunnelSuite(new ProxyStage(null, async (stage, backend) => (await apache.start(stage, backend)).proxy))
})

// It needs another proxy that opens the actual tunnel.
const both = nghttpx.program === null ? null : tinyproxy.program
describeProgram('nghttpx in front of tinyproxy: CONNECT over HTTP/2', both, () => {
  tunnelSuite(
    new ProxyStage(CREDENTIALS, async (stage) => {
      const behind = await startTinyproxy(stage, CREDENTIALS)
      return startHttp2Proxy(stage, new URL(behind))
    }),
  )
})
