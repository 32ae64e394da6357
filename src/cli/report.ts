/** One exchange, for a reader: what was asked, what came, over what, and where the time went. */
import { contentOf, preview } from './body.ts'
import type { ConnectionFacts } from './dialer.ts'
import type { Exchange, Field, Incoming } from './exchange.ts'
import type { Failure } from './failure.ts'
import { bytes, clean, type Paper, type Style, width } from './paper.ts'
import { waterfall } from './phases.ts'

/** A name that is longer has its value on the line below. */
const LONGEST_NAME = 28

/** `savedTo` says where the body went; null when it is to be shown. */
export function report(exchange: Exchange, paper: Paper, verbose: boolean, savedTo: string | null): string {
  const { request, early, response, connection, phases, failure } = exchange
  const fields = (title: string, list: readonly Field[]): string[] =>
    list.length === 0 ? [] : [paper.paint('bold', title), ...fieldLines(list, paper)]
  return sections([
    [
      ...paper.lines(clean(`${request.method} ${request.url.href}`), 'bold'),
      ...(response === null ? [] : statusLines(response, paper)),
      ...(connection === null ? [] : connectionLines(connection, paper)),
    ],
    verbose ? fields('sent', request.headers) : [],
    ...early.map((info) => fields(`early ${info.status}`, info.headers)),
    fields('headers', response?.headers ?? []),
    response === null ? [] : bodyLines(response, paper, savedTo),
    fields('trailers', response?.trailers ?? []),
    phases === null ? [] : [paper.paint('bold', 'timing'), ...waterfall(phases, paper)],
    failure === null ? [] : failureLines(failure, paper),
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

function statusLines({ status, statusText }: Incoming, paper: Paper): string[] {
  return paper.lines(clean(`${status} ${statusText}`.trimEnd()), statusStyle(status))
}

function connectionLines(connection: ConnectionFacts, paper: Paper): string[] {
  const { protocol, remoteAddress, remotePort, socketPath, tls } = connection
  const host = remoteAddress?.includes(':') ? `[${remoteAddress}]` : remoteAddress
  const where = `${protocol}, ${socketPath ?? `${host}:${remotePort}`}`
  if (tls === null) return paper.lines(clean(where), 'dim')
  const { version, cipher, subject, issuer, validTo, problem } = tls
  const certificate = `certificate of ${subject} by ${issuer} until ${validTo}`
  return [
    ...paper.lines(clean(`${where}, ${version} ${cipher}`), 'dim'),
    ...paper.lines(clean(certificate), 'dim'),
    ...(problem === null ? [] : paper.lines(clean(`not verified: ${problem}`), 'yellow')),
  ]
}

function fieldLines(fields: readonly Field[], paper: Paper): string[] {
  const shown = fields.map(([name, value]): Field => [clean(name), clean(value)])
  const column = Math.min(LONGEST_NAME, Math.max(...shown.map(([name]) => width(name))))
  return shown.map(([name, value]) => paper.row(name, column, value))
}

function bodyLines(response: Incoming, paper: Paper, savedTo: string | null): string[] {
  const heading = `${paper.paint('bold', 'body')}  ${paper.paint('dim', bytes(response.size))}`
  if (savedTo !== null) return [heading, ...paper.lines(clean(`saved to ${savedTo}`), null, '  ')]
  return [heading, ...preview(contentOf(response), paper)]
}

/** A failure and what to do about it. */
export function failureLines({ code, message, hint, retrySafety }: Failure, paper: Paper): string[] {
  const advice = [
    hint,
    retrySafety === 'safe' ? 'The server has not processed it: it is safe to try again.' : '',
  ]
  return [
    ...paper.lines(clean(`${code}: ${message}`), 'red'),
    ...advice.filter((text) => text !== '').flatMap((text) => paper.lines(text, null, '  ')),
  ]
}
