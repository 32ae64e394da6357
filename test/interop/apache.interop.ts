/** Apache httpd: the common suites, reloads, and tunnels. */
import { reloadSuite } from './reload-suite.ts'
import { describeServer } from './running-server.ts'
import { apache } from './servers/apache.ts'
import { tlsSuite } from './tls-suite.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(apache, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)
  // The signal of `apachectl graceful`. Its first GOAWAY names no stream; the second follows when it has stopped reading,
  // or never, together with the end of the connection. Version 2.4.68 then sometimes sends what it has read: a proxy in
  // between, in another process, saw HEADERS of the client after the header of a DATA frame of the server.
  reloadSuite(running, { signal: 'SIGUSR1', times: 2, drops: ['h2', 'h2c'], mixes: true })
})
