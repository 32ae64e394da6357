// In CommonJS and with a bundler. Programs import from the declaration files, since some names are nowhere else.

import type Agent from 'undici/types/agent'
import type CacheHandler from 'undici/types/cache-interceptor'
import type Client from 'undici/types/client'
import type buildConnector from 'undici/types/connector'
import type Dispatcher from 'undici/types/dispatcher'
import type { UndiciHeaders } from 'undici/types/dispatcher'
import type Errors from 'undici/types/errors'
import type { BodyInit, HeadersInit, RequestInfo, RequestInit } from 'undici/types/fetch'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'undici/types/header'
import type Interceptors from 'undici/types/interceptors'
import type MockAgent from 'undici/types/mock-agent'
import type { MockInterceptor } from 'undici/types/mock-interceptor'
import type Pool from 'undici/types/pool'
import type BodyReadable from 'undici/types/readable'
import type RetryHandler from 'undici/types/retry-handler'

export const headers: IncomingHttpHeaders = { a: 'b', c: ['d'] }
export const sent: OutgoingHttpHeaders = { a: 1 }
export const all: UndiciHeaders = { a: 'b' }
export const init: RequestInit = { headers: [['a', 'b']] as HeadersInit, body: 'x' as BodyInit }
export const info: RequestInfo = 'http://localhost'
export function use(
  body: BodyReadable,
  dispatcher: Dispatcher,
  pool: Pool,
  agent: Agent,
  client: Client,
  mocks: MockAgent,
  options: RetryHandler.RetryOptions,
  errors: Errors.UndiciError,
  store: CacheHandler.CacheStore,
  redirect: Interceptors.RedirectInterceptorOpts,
  connect: buildConnector.connector,
  reply: MockInterceptor.MockResponseOptions,
): unknown[] {
  const dispatchers: Dispatcher[] = [dispatcher, pool, agent, client, mocks]
  return [
    body.text(),
    dispatchers,
    options.maxRetries,
    errors.code,
    store,
    redirect.maxRedirections,
    connect,
    reply.headers,
  ]
}
