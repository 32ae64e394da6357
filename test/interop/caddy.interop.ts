/** Caddy: the common suites. */
import { describeServer } from './running-server.ts'
import { caddy } from './servers/caddy.ts'
import { tlsSuite } from './tls-suite.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(caddy, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)
})
