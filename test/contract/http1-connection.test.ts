import { HeadParsers, Http1Connection } from '../../src/connection/http1/connection.ts'
import { describeConnection } from './connection.contract.ts'

describeConnection({
  name: 'HTTP/1.1',
  multiplexes: false,
  survivesAbort: false,
  connect: (transport, owner, settings) =>
    new Http1Connection(transport, owner, settings, { connect: 1, secured: null }, new HeadParsers(settings)),
  greeting: '',
  response: () => 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  head: () => 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n',
})
