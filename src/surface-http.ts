/** `ventuno/http`: the client for calling services. */

export type { HttpCall } from './http/call.ts'
export type { Http } from './http/client.ts'
export { http } from './http/http.ts'
export type {
  AfterResponse,
  BeforeRequest,
  BeforeRetry,
  HttpBodyOptions,
  HttpCallOptions,
  HttpHeaders,
  HttpHeaderValue,
  HttpHooks,
  HttpOptions,
  HttpProgress,
  HttpQuery,
  HttpRequest,
  HttpResponseHead,
  HttpRetry,
  HttpTimeouts,
  JsonInput,
} from './http/options.ts'
export type { HttpPageOptions, NextPage } from './http/pages.ts'
export type { HttpResponse } from './http/response.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './http/standard-schema.ts'
