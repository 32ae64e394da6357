// As editors write them when they complete a name.
import { Agent, buildConnector, Client, Dispatcher, MockAgent, Pool, ProxyAgent, RetryHandler } from 'undici'

import RequestOptions = Dispatcher.RequestOptions
import DispatchHandler = Dispatcher.DispatchHandler
import HttpMethod = Dispatcher.HttpMethod
import BuildOptions = buildConnector.BuildOptions
import RetryOptions = RetryHandler.RetryOptions
import PoolOptions = Pool.Options
import AgentOptions = Agent.Options
import ClientOptions = Client.Options
import ProxyOptions = ProxyAgent.Options
import MockOptions = MockAgent.Options

export type Aliases = [RequestOptions, DispatchHandler, HttpMethod, BuildOptions, RetryOptions]
export type AliasesOfOptions = [PoolOptions, AgentOptions, ClientOptions, ProxyOptions, MockOptions]
