/** The options of other clients, each with what does the same here. Data for `option-names.ts`. */

/** In each table: names, separated by blanks, and the advice for them. */
export type Advice = readonly Readonly<Record<string, string>>[]

const CONNECT = 'connect: { … } of a Client, Pool or Agent'

/** For `request()` and its siblings, and for `fetch`. */
const COMMON = {
  json: 'body: JSON.stringify(…), with a content-type header',
  'data payload': 'body',
  form: 'body: new URLSearchParams(…)',
  'formData multipart': 'body: a FormData',
  'timeout requestTimeout responseTimeout':
    'headersTimeout and bodyTimeout, or signal: AbortSignal.timeout(…)',
  'connectTimeout maxResponseSize keepAliveTimeout pipelining connections connect':
    'an option of the dispatcher',
  'url uri': 'the first argument',
  'baseURL baseUrl prefixUrl': 'new URL(path, base)',
  'auth username password user': 'an authorization header',
  proxy: 'dispatcher: new ProxyAgent(…)',
  'httpAgent httpsAgent client': 'dispatcher',
  'retry retries maxRetries maxRetry retryLimit': 'interceptors.retry(), and retryOptions',
  'responseType parseJson': 'body.json(), body.text() or body.bytes()',
  'throwHttpErrors validateStatus': 'interceptors.responseError()',
  'cookieJar jar withCredentials': 'interceptors.cookies()',
  'rejectUnauthorized strictSSL insecure ca cert key pfx passphrase https tls': CONNECT,
  'maxContentLength maxBodyLength': 'maxResponseSize of the dispatcher',
  'cancelToken abortController abortSignal': 'signal',
  'onUploadProgress onDownloadProgress': 'counting the chunks of the body',
  'hooks beforeRequest afterResponse transformRequest transformResponse': 'an interceptor, with compose()',
  http2: 'allowH2 of the dispatcher',
}

export const OF_REQUESTS: Advice = [
  COMMON,
  {
    'params searchParams qs': 'query',
    'maxRedirects followRedirect followRedirects follow redirect': 'interceptors.redirect()',
    'decompress gzip compress': 'interceptors.decompress()',
    cache: 'interceptors.cache()',
  },
]

export const OF_FETCH: Advice = [
  COMMON,
  {
    'params searchParams qs query': 'the query of the URL',
    'maxRedirects followRedirect followRedirects follow maxRedirections': 'redirect',
    'agent dispatch': 'dispatcher',
  },
]

/** Of clients, pools and agents. */
export const OF_CLIENTS: Advice = [
  {
    'timeout requestTimeout responseTimeout': 'connectTimeout, headersTimeout or bodyTimeout',
    'maxSockets poolSize max': 'connections of a Pool or Agent',
    // Those of an agent are read before: here they are for one origin.
    'maxConnections maxTotalSockets': 'connections, or maxConnections of an Agent',
    'maxFreeSockets maxIdleConnections': 'maxIdleConnections of an Agent',
    maxConnectionsWait: 'maxConnectionsWait of an Agent',
    'keepAliveMsecs freeSocketTimeout': 'keepAliveTimeout',
    'rejectUnauthorized ca cert key pfx passphrase servername lookup family checkServerIdentity ciphers minVersion':
      'connect: { … }',
    'headers defaultHeaders': 'the headers of each request',
    'retry retries maxRetries maxRetry': 'interceptors.retry(), with compose()',
    'maxRedirects maxRedirections followRedirect followRedirects': 'interceptors.redirect(), with compose()',
    'baseURL baseUrl prefixUrl': 'the URL of a Client or Pool',
    'proxy httpProxy httpsProxy': 'a ProxyAgent',
    'http2 h2': 'allowH2',
    'maxContentLength maxBodyLength': 'maxResponseSize',
  },
]

export const OF_RETRY: Advice = [
  {
    'maxRetry retries limit attempts maxAttempts count': 'maxRetries',
    'delay minDelay retryDelay initialDelay': 'minTimeout',
    'maxDelay backoffLimit': 'maxTimeout',
    'factor backoffFactor multiplier': 'timeoutFactor',
    'statuses status retryStatusCodes': 'statusCodes',
    'codes errors': 'errorCodes',
  },
]

export const OF_REDIRECT: Advice = [{ 'maxRedirects max limit follow': 'maxRedirections' }]
