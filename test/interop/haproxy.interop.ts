/** HAProxy: the common suites, and reloads. */
import { reloadSuite } from './reload-suite.ts'
import { describeServer } from './running-server.ts'
import { haproxy } from './servers/haproxy.ts'
import { tlsSuite } from './tls-suite.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(haproxy, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)
  // To the master process: a new worker takes over the ports.
  reloadSuite(running, { signal: 'SIGUSR2', times: 4, drops: [] })
})
