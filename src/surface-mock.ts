/** `ventuno/mock`: the mock agent, its clients, and snapshots. */

export type {
  FilterCallsObjectCriteria,
  FilterCallsOptions,
  FilterCallsParameter,
} from './mock/history/call-history.ts'
export { MockCallHistory } from './mock/history/call-history.ts'
export type { MockCallHistoryLogProperties } from './mock/history/call-history-log.ts'
export { MockCallHistoryLog } from './mock/history/call-history-log.ts'
export type { BodyMatcher } from './mock/match/body-matcher.ts'
export type { HeadersMatcher } from './mock/match/header-matcher.ts'
export type { MockInterceptorOptions, PendingInterceptor } from './mock/match/interception.ts'
export type { AssertPendingOptions } from './mock/match/pending-table.ts'
export type { TextMatcher } from './mock/match/text-matcher.ts'
export { MockAgent } from './mock/mock-agent.ts'
export type { MockAgentOptions } from './mock/mock-agent-options.ts'
export type { MockClientOptions } from './mock/mock-client.ts'
export { MockClient } from './mock/mock-client.ts'
export * as mockErrors from './mock/mock-errors.ts'
export type { MockInterceptor, MockScope } from './mock/mock-interceptor.ts'
export type { MockPoolOptions } from './mock/mock-pool.ts'
export { MockPool } from './mock/mock-pool.ts'
export type { Interceptable } from './mock/mocking.ts'
export type { MockEvent, MockEvents } from './mock/reply/events-text.ts'
export type {
  InformationalReply,
  MockReplyOptions,
  MockReplyOptionsCallback,
  MockResponseCallbackOptions,
  MockResponseDataHandler,
  MockResponseOptions,
  PendingReply,
  UpgradeAcceptor,
} from './mock/reply/reply.ts'
export type {
  Snapshot,
  SnapshotData,
  SnapshotInfo,
  SnapshotRequest,
  SnapshotResponse,
} from './mock/snapshot/snapshot.ts'
export { SnapshotAgent } from './mock/snapshot/snapshot-agent.ts'
export type {
  SanitizedEntry,
  SnapshotAgentOptions,
  SnapshotMode,
  SnapshotRecorderOptions,
} from './mock/snapshot/snapshot-options.ts'
export type { SnapshotRecorder } from './mock/snapshot/snapshot-recorder.ts'
export type { WireConnection } from './mock/wire/wire-clients.ts'
export type {
  ReplyFault,
  WireAction,
  WireFault,
  WireFrame,
  WireScript,
  WireStep,
} from './mock/wire/wire-step.ts'
export { mockWire } from './mock/wire/wire-step.ts'
