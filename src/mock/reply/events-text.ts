/** Server-sent events as text (WHATWG HTML §9.2.6). */

/** An event; a string is one with data alone. */
export type MockEvent =
  | string
  | {
      /** Strings as they are, anything else as JSON. */
      data?: unknown
      /** Its name. Default: `message`. */
      event?: string
      /** Sent back by a client that reconnects. */
      id?: string
      /** Milliseconds after which a client reconnects. */
      retry?: number
    }

/** Events, in order. */
export type MockEvents = Iterable<MockEvent> | AsyncIterable<MockEvent>

export async function* eventsText(events: MockEvents): AsyncGenerator<string> {
  for await (const event of events) yield eventText(typeof event === 'string' ? { data: event } : event)
}

function eventText({ data, event, id, retry }: Exclude<MockEvent, string>): string {
  let text = ''
  if (event !== undefined) text += `event: ${oneLine(event)}\n`
  if (id !== undefined) text += `id: ${oneLine(id)}\n`
  if (retry !== undefined) text += `retry: ${retry}\n`
  if (data !== undefined) {
    const content = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
    for (const line of content.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
  }
  return `${text}\n`
}

/** A line end would begin another field. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
