import * as ns from 'undici'
import undici, {
  type BodyInit,
  type Cookie,
  caches,
  deleteCookie,
  FormData as F,
  type FormDataEntryValue,
  getCookies,
  getGlobalOrigin,
  getSetCookies,
  Headers as H,
  type HeadersInit,
  install,
  parseCookie,
  parseMIMEType,
  type ReferrerPolicy,
  type RequestCache,
  type RequestCredentials,
  type RequestDuplex,
  type RequestInfo,
  type RequestMode,
  type RequestRedirect,
  type ResponseInit,
  type ResponseType,
  Request as Rq,
  serializeAMimeType,
  setCookie,
  setGlobalOrigin,
  util,
} from 'undici'

undici.setGlobalDispatcher(new ns.Agent())
export const same: typeof undici.request = ns.request
export const h = new H({ a: 'b' })
setCookie(h, {
  name: 'a',
  value: 'b',
  expires: new Date(),
  sameSite: 'Lax',
  httpOnly: true,
  maxAge: 1,
  path: '/',
  secure: true,
  domain: 'x',
  unparsed: ['x'],
} satisfies Cookie)
export const all = [
  getCookies(h),
  getSetCookies(h)[0]?.name,
  parseCookie('a=b')?.value,
  deleteCookie(h, 'x', { path: '/', domain: 'x' }),
  getGlobalOrigin()?.href,
  setGlobalOrigin(undefined),
  util.headerNameToString('a'),
  util.parseHeaders([Buffer.from('a'), Buffer.from('b')]),
  install,
  caches,
  F,
  Rq,
  ns.Pool,
  undici.Client,
]
const m = parseMIMEType('text/html')
if (m !== 'failure') serializeAMimeType(m)
export type T = [
  HeadersInit,
  BodyInit,
  RequestInfo,
  ResponseInit,
  RequestMode,
  RequestRedirect,
  RequestCredentials,
  RequestCache,
  RequestDuplex,
  ReferrerPolicy,
  ResponseType,
  FormDataEntryValue,
]
export type Mod = typeof import('undici')
export const lazy = async (): Promise<Mod['fetch']> => (await import('undici')).fetch
export const un: ns.Dispatcher = new undici.Agent()
