/** What the package exports, together in one object: its default export. */
import { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from './cookies/api.ts'
import { Agent } from './dispatcher/agent.ts'
import { BalancedPool } from './dispatcher/balanced-pool.ts'
import { Client } from './dispatcher/client.ts'
import { Dispatcher } from './dispatcher/dispatcher.ts'
import { Dispatcher1Wrapper } from './dispatcher/dispatcher1-wrapper.ts'
import { getGlobalDispatcher, setGlobalDispatcher } from './dispatcher/global.ts'
import { connect, pipeline, request, stream, upgrade } from './dispatcher/global-api.ts'
import { H2CClient } from './dispatcher/h2c-client.ts'
import { Pool } from './dispatcher/pool.ts'
import { RoundRobinPool } from './dispatcher/round-robin-pool.ts'
import * as errors from './errors.ts'
import {
  FormData,
  fetch,
  getGlobalOrigin,
  Headers,
  Request,
  Response,
  setGlobalOrigin,
} from './fetch/index.ts'
import { DecoratorHandler } from './handler/decorator-handler.ts'
import { install } from './install.ts'
import { buildConnector } from './net/connector.ts'
import { CloseEvent, ErrorEvent, MessageEvent } from './websocket/events.ts'
import { ping, WebSocket } from './websocket/websocket.ts'

/** Everything the package exports, under the same names. */
export const ventuno: {
  Agent: typeof Agent
  BalancedPool: typeof BalancedPool
  buildConnector: typeof buildConnector
  Client: typeof Client
  CloseEvent: typeof CloseEvent
  connect: typeof connect
  DecoratorHandler: typeof DecoratorHandler
  Dispatcher: typeof Dispatcher
  Dispatcher1Wrapper: typeof Dispatcher1Wrapper
  deleteCookie: typeof deleteCookie
  ErrorEvent: typeof ErrorEvent
  errors: typeof errors
  FormData: typeof FormData
  fetch: typeof fetch
  getCookies: typeof getCookies
  getGlobalDispatcher: typeof getGlobalDispatcher
  getGlobalOrigin: typeof getGlobalOrigin
  getSetCookies: typeof getSetCookies
  H2CClient: typeof H2CClient
  Headers: typeof Headers
  install: typeof install
  MessageEvent: typeof MessageEvent
  Pool: typeof Pool
  parseCookie: typeof parseCookie
  ping: typeof ping
  pipeline: typeof pipeline
  Request: typeof Request
  Response: typeof Response
  RoundRobinPool: typeof RoundRobinPool
  request: typeof request
  setCookie: typeof setCookie
  setGlobalDispatcher: typeof setGlobalDispatcher
  setGlobalOrigin: typeof setGlobalOrigin
  stream: typeof stream
  upgrade: typeof upgrade
  WebSocket: typeof WebSocket
} = {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  CloseEvent,
  connect,
  DecoratorHandler,
  Dispatcher,
  Dispatcher1Wrapper,
  deleteCookie,
  ErrorEvent,
  errors,
  FormData,
  fetch,
  getCookies,
  getGlobalDispatcher,
  getGlobalOrigin,
  getSetCookies,
  H2CClient,
  Headers,
  install,
  MessageEvent,
  Pool,
  parseCookie,
  ping,
  pipeline,
  Request,
  Response,
  RoundRobinPool,
  request,
  setCookie,
  setGlobalDispatcher,
  setGlobalOrigin,
  stream,
  upgrade,
  WebSocket,
}
