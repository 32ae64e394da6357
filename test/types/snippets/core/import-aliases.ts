// As editors write them when they complete a name.
import {
  Agent,
  buildConnector,
  Client,
  DiagnosticsChannel,
  Dispatcher,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryHandler,
} from 'undici'

import RequestOptions = Dispatcher.RequestOptions
import ResponseData = Dispatcher.ResponseData
import StreamData = Dispatcher.StreamData
import UpgradeData = Dispatcher.UpgradeData
import ComposedDispatcher = Dispatcher.ComposedDispatcher
import DispatchHandler = Dispatcher.DispatchHandler
import HttpMethod = Dispatcher.HttpMethod
import BuildOptions = buildConnector.BuildOptions
import RetryOptions = RetryHandler.RetryOptions
import PoolOptions = Pool.Options
import AgentOptions = Agent.Options
import ClientOptions = Client.Options
import ProxyOptions = ProxyAgent.Options
import MockOptions = MockAgent.Options
import CreateMessage = DiagnosticsChannel.RequestCreateMessage

export type Aliases = [RequestOptions, DispatchHandler, HttpMethod, BuildOptions, RetryOptions]
export type AliasesOfOptions = [PoolOptions, AgentOptions, ClientOptions, ProxyOptions, MockOptions]
export type AliasesOfAnswers = [ResponseData<string>, StreamData, UpgradeData, ComposedDispatcher]
export type OtherAliases = [CreateMessage]
