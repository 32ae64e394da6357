/** Apache httpd: what all servers do, reloads, and tunnels. */
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
  // What `apachectl graceful` sends. Its first GOAWAY names no stream; the second comes when it has stopped
  // reading, or not at all, and with it the end of the connection.
  reloadSuite(running, { signal: 'SIGUSR1', times: 2, drops: ['h2', 'h2c'] })
})
