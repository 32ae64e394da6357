/** nghttpx of nghttp2: the common suites. */
import { describeServer } from './running-server.ts'
import { nghttpx } from './servers/nghttpx.ts'
import { tlsSuite } from './tls-suite.ts'
import { webSocketSuite } from './websocket-suite.ts'
import { wireSuite } from './wire-suite.ts'

describeServer(nghttpx, (running) => {
  wireSuite(running)
  tlsSuite(running)
  webSocketSuite(running)
})
