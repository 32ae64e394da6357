// The connections of dispatchers as programs list them. Compiled, never run.
import {
  type Agent,
  BalancedPool,
  Client,
  type ConnectionSnapshot,
  type ConnectionSnapshotState,
  type DiagnosticsChannel,
  type Dispatcher,
  Dispatcher1Wrapper,
  getGlobalDispatcher,
  MockAgent,
  ProxyAgent,
  RetryAgent,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

const client = new Client('http://localhost')
const composed = client.compose((dispatch) => (options, handler) => dispatch(options, handler))
export const lists: ConnectionSnapshot[][] = [
  client.connections(),
  composed.connections(),
  new BalancedPool().connections(),
  new ProxyAgent('http://localhost').connections(),
  new RetryAgent(client).connections(),
  new MockAgent().connections(),
  new MockAgent().get('http://localhost').connections(),
  new Dispatcher1Wrapper(client).connections(),
  (getGlobalDispatcher() as Agent).connections(),
]

export function count(dispatcher: Client, state: ConnectionSnapshotState): number {
  const [first] = dispatcher.connections()
  const age: Equal<ConnectionSnapshot['age'], number> = true
  const idle: Equal<ConnectionSnapshot['idleTime'], number | null> = true
  console.log(age, idle, first?.protocol === 'h2' ? first.maxStreams : null)
  return dispatcher.connections().filter((row) => row.state === state).length
}

export function ended({
  connection,
  duration,
  error,
  client,
}: DiagnosticsChannel.ClientDisconnectedMessage): string {
  const isOurs = (client as Dispatcher) === composed
  return `${connection.id} ${duration.toFixed(0)} ${error.message} ${isOurs}`
}
