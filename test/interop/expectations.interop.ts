/** Bodies that are held back, before servers that are libraries. The other servers have these tests among their own. */
import { after, before, describe, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { TRUST } from './certificate-files.ts'
import { accepted, refused } from './expectations.ts'
import { describeProgram } from './running-server.ts'
import { go, startGo } from './servers/go.ts'
import { startNode } from './servers/node.ts'
import { Stage } from './stage.ts'

interface Site {
  readonly h1: string
  readonly tls: string
  readonly h2c?: string
}

const CLIENTS: Readonly<Record<string, (site: Site) => Client | null>> = {
  h1: ({ h1 }) => new Client(h1),
  'h1+tls': ({ tls }) => new Client(tls, { connect: TRUST, allowH2: false }),
  h2: ({ tls }) => new Client(tls, { connect: TRUST }),
  h2c: ({ h2c }) => (h2c === undefined ? null : new H2CClient(h2c)),
}

function expectSuite(start: (stage: Stage) => Promise<Site>, wires: readonly string[]): void {
  const stage = new Stage()
  let site: Site
  before(async () => {
    site = await start(stage)
  })
  after(() => stage.end())
  for (const wire of wires) {
    describe(wire, () => {
      let client: Client
      before(() => {
        client = CLIENTS[wire]!(site)!
        stage.onEnd(() => client.destroy())
      })
      test('a body that is held back is asked for', () => accepted(client, '/backend/echo', true))
      for (const status of [401, 413, 417]) {
        test(`${status}: nothing of a body that is held back is sent`, () =>
          refused(client, `/refused/${status}`, status))
      }
    })
  }
}

describe('Node.js', () => expectSuite(startNode, ['h1', 'h1+tls', 'h2', 'h2c']))

// Without h2c, which the library has not.
describeProgram('Go', go, () => expectSuite(startGo, ['h1', 'h1+tls', 'h2']))
