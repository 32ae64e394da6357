/** The report of one exchange: request, response, connection and timing. */
import type { ConnectionReport } from './dialer.ts'
import type { Exchange } from './exchange.ts'
import type { Failure } from './failure.ts'
import { type Field, field, type Incoming } from './message.ts'
import { waterfall } from './phases.ts'
import { bytes, clean, milliseconds, type Style, type TextLayout, width } from './text-layout.ts'
import type { Hop, Repeated } from './wire.ts'

/** A name that is longer has its value on the line below. */
const LONGEST_NAME = 28

export interface Shown {
  /** Also the head of the request. */
  readonly verbose: boolean
  /** The file that the body was saved to; null if it was printed. */
  readonly savedTo: string | null
  /** The head of the response was printed. */
  readonly hasHead: boolean
  /** The body was not printed, because it is no text. */
  readonly isBinary: boolean
}

export function report(exchange: Exchange, layout: TextLayout, shown: Shown): string {
  const { request, early, response, connection, phases, failure } = exchange
  const fields = (title: string, list: readonly Field[]): string[] =>
    list.length === 0 ? [] : [layout.paint('bold', title), ...fieldLines(list, layout)]
  const status = `${response?.status} ${response?.statusText}`.trimEnd()
  return sections([
    [
      ...layout.lines(clean(`${request.method} ${request.url.href}`), 'bold'),
      ...(response === null ? [] : layout.lines(clean(status), statusStyle(response.status))),
      ...(connection === null ? [] : connectionLines(connection, layout)),
    ],
    shown.verbose ? fields('sent', request.headers) : [],
    ...early.map((info) => fields(`early ${info.status}`, info.headers)),
    fields('headers', shown.hasHead ? [] : (response?.headers ?? [])),
    response === null ? [] : bodyLines(response, layout, shown),
    fields('trailers', response?.trailers ?? []),
    phases === null ? [] : [layout.paint('bold', 'timing'), ...waterfall(phases, layout)],
    failure === null ? [] : failureLines(failure, layout),
  ])
}

/** Groups of lines with an empty line between them. */
export function sections(groups: readonly (readonly string[])[]): string {
  const texts = groups.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${texts.join('\n\n')}\n`
}

export function statusStyle(status: number): Style {
  return status < 300 ? 'green' : status < 400 ? 'yellow' : 'red'
}

function connectionLines(connection: ConnectionReport, layout: TextLayout): string[] {
  const { protocol, remoteAddress, remotePort, socketPath, proxy, tls } = connection
  const host = remoteAddress?.includes(':') ? `[${remoteAddress}]` : remoteAddress
  const where = `${protocol}, ${socketPath ?? `${host}:${remotePort}`}`
  const hop = proxy === null ? [] : layout.lines(clean(`through ${proxy.uri} (${proxy.rule})`), 'dim')
  if (tls === null) return [...layout.lines(clean(where), 'dim'), ...hop]
  const { version, cipher, subject, issuer, validTo, problem } = tls
  const certificate = `certificate of ${subject} by ${issuer} until ${validTo}`
  return [
    ...layout.lines(clean(`${where}, ${version} ${cipher}`), 'dim'),
    ...hop,
    ...layout.lines(clean(certificate), 'dim'),
    ...(problem === null ? [] : layout.lines(clean(`not verified: ${problem}`), 'yellow')),
  ]
}

function fieldLines(fields: readonly Field[], layout: TextLayout): string[] {
  const shown = fields.map(([name, value]): Field => [clean(name), clean(value)])
  const column = Math.min(LONGEST_NAME, Math.max(...shown.map(([name]) => width(name))))
  return shown.map(([name, value]) => layout.row(name, column, value))
}

function bodyLines(response: Incoming, layout: TextLayout, { savedTo, isBinary }: Shown): string[] {
  const coding = field(response.headers, 'content-encoding')
  const advice = coding === null ? '-o FILE saves it' : `--compressed decodes ${coding}`
  const note =
    savedTo !== null ? `saved to ${savedTo}` : isBinary ? `not shown: it is no text; ${advice}` : null
  return [
    `${layout.paint('bold', 'body')}  ${layout.paint('dim', bytes(response.size))}`,
    ...(note === null ? [] : layout.lines(clean(note), null, '  ')),
  ]
}

export function hopLine({ status, to }: Hop): string {
  return `${status} leads to ${to.href}`
}

export function retryLine({ reason, count, delay }: Repeated, most: number): string {
  return `${reason}: sent again in ${milliseconds(delay)} (${count} of ${most})`
}

/** A failure, and advice. */
export function failureLines({ code, message, hint, retrySafety }: Failure, layout: TextLayout): string[] {
  const advice = [
    hint,
    retrySafety === 'safe' ? 'The server has not processed it: it is safe to try again.' : '',
  ]
  return [
    ...layout.lines(clean(`${code}: ${message}`), 'red'),
    ...advice.filter((text) => text !== '').flatMap((text) => layout.lines(text, null, '  ')),
  ]
}
