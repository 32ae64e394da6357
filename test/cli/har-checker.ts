/**
 * HAR 1.2, as defined at http://www.softwareishard.com/blog/har-12-spec/: for each object the required and optional
 * fields, with their types. Anything else is refused, except names with an underscore, which the format reserves for
 * custom fields.
 */
type Check = (value: unknown, path: string) => string[]

const is =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value, path) =>
    test(value) ? [] : [`${path} is not ${what}: ${JSON.stringify(value)}`]

const text = is('a string', (value) => typeof value === 'string')
const flag = is('a boolean', (value) => typeof value === 'boolean')
const integer = is('an integer', Number.isInteger)
const size = is('a size', (value) => Number.isInteger(value) && (value as number) >= -1)
const amount = is('an amount', (value) => Number.isFinite(value) && (value as number) >= 0)
const amountOrNone = is('an amount or -1', (value) => value === -1 || amount(value, '').length === 0)
const version = is('1.2', (value) => value === '1.2')
const encoding = is('base64', (value) => value === 'base64')
const address = is('an IP address', (value) => typeof value === 'string' && /^[\da-f.:]+$/i.test(value))
/** ISO 8601 with a time zone. */
const moment = is(
  'a moment',
  (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value),
)
const url = is('an absolute URL without credentials', (value) => {
  const parsed = URL.canParse(String(value)) ? new URL(String(value)) : null
  return parsed !== null && parsed.username === '' && parsed.password === '' && parsed.hash === ''
})

const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, i) => check(item, `${path}[${i}]`))
      : [`${path} is not a list`]

function object(required: Record<string, Check>, optional: Record<string, Check> = {}): Check {
  const known: Record<string, Check> = { ...required, ...optional, comment: text }
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${path} is not an object`]
    const missing = Object.keys(required).filter((name) => !Object.hasOwn(value, name))
    return [
      ...missing.map((name) => `${path}.${name} is missing`),
      ...Object.entries(value).flatMap(([name, item]) => {
        if (name.startsWith('_')) return []
        return known[name]?.(item, `${path}.${name}`) ?? [`${path}.${name} is not of the format`]
      }),
    ]
  }
}

const pairs = listOf(object({ name: text, value: text }))
const cookies = listOf(
  object(
    { name: text, value: text },
    { path: text, domain: text, expires: moment, httpOnly: flag, secure: flag },
  ),
)
const params = listOf(object({ name: text }, { value: text, fileName: text, contentType: text }))
const postData: Check = (value, path) => [
  ...object({ mimeType: text }, { params, text })(value, path),
  ...('params' in Object(value) === 'text' in Object(value) ? [`${path} needs one of params and text`] : []),
]
const request = object(
  {
    method: text,
    url,
    httpVersion: text,
    cookies,
    headers: pairs,
    queryString: pairs,
    headersSize: size,
    bodySize: size,
  },
  { postData },
)
const content = object({ size: integer, mimeType: text }, { compression: integer, text, encoding })
const response = object({
  status: integer,
  statusText: text,
  httpVersion: text,
  cookies,
  headers: pairs,
  content,
  redirectURL: text,
  headersSize: size,
  bodySize: size,
})
const timings = object(
  { send: amount, wait: amount, receive: amount },
  { blocked: amountOrNone, dns: amountOrNone, connect: amountOrNone, ssl: amountOrNone },
)
const cacheState = object({ lastAccess: moment, eTag: text, hitCount: integer }, { expires: moment })
const entry: Check = (value, path) => [
  ...object(
    {
      startedDateTime: moment,
      time: amount,
      request,
      response,
      cache: object({}, { beforeRequest: cacheState, afterRequest: cacheState }),
      timings,
    },
    { pageref: text, serverIPAddress: address, connection: text },
  )(value, path),
  ...sums(value, path),
]

/** The time of an entry is the sum of its parts, of which `connect` contains `ssl`. */
function sums(value: unknown, path: string): string[] {
  const { time, timings: parts } = value as { time: number; timings: Record<string, number> }
  const { ssl = -1, ...others } = parts
  const sum = Object.values(others).reduce((total, part) => total + Math.max(0, part), 0)
  return [
    ...(Math.abs(sum - time) > 0.01 ? [`${path}.time is ${time}, its parts are ${sum}`] : []),
    ...(ssl > (others['connect'] ?? -1) ? [`${path}.timings.ssl is not part of connect`] : []),
  ]
}

const named = object({ name: text, version: text })
const har = object({ log: object({ version, creator: named, entries: listOf(entry) }, { browser: named }) })

/** The problems of an archive; an empty list for a valid one. */
export function harProblems(value: unknown): string[] {
  return har(value, 'har')
}
