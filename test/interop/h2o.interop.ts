/** H2O: the common suites. */
import { describeServer } from './running-server.ts'
import { h2o } from './servers/h2o.ts'
import { tlsSuite } from './tls-suite.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(h2o, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)
})
