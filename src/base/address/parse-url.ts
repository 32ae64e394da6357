/**
 * URLs of callers, parsed and shown. A URL may carry a password, a token in its query or a key in its
 * fragment, and errors end up in logs: what is shown of one is its scheme, host, port and path.
 */

/** Stands for what is not shown. */
const HIDDEN = '…'

/**
 * Scheme, host, a port of digits and a path: what may be shown of a text that is no URL, as far as it has
 * them.
 */
const PLAIN = /^(?:[a-z][a-z\d+.-]*:)?(?:[\\/]{2})?(?:\[[\da-f:.]*\]|[^\\/?#:@]*)(?::\d*)?(?:[\\/][^?#@]*)?/i

const SCHEME = /^[a-z][a-z\d+.-]*:[\\/]{2}/i

/** A URL, or what was given as one, as errors show it. */
export function shownUrl(given: unknown): string {
  const text = String(given)
  // Where user info ends cannot be told in a text that is no URL: a password may contain any character.
  if (text.includes('@'))
    return URL.canParse(text) ? shownParts(new URL(text)) : `${SCHEME.exec(text)?.[0] ?? ''}${HIDDEN}`
  const shown = PLAIN.exec(text)![0]
  return shown.length === text.length ? text : shown + HIDDEN
}

function shownParts({ protocol, host, pathname }: URL): string {
  return host === '' && !pathname.startsWith('/') ? `${protocol}${HIDDEN}` : `${protocol}//${host}${pathname}`
}

/** Throws the runtime's error for what is no URL, with `input` and `base` as they may be shown. */
export function parseUrl(given: string | URL, base?: string | URL): URL {
  try {
    return new URL(given, base)
  } catch (error) {
    throw withoutSecrets(error)
  }
}

function withoutSecrets(error: unknown): unknown {
  const { input, base } = error as { input?: unknown; base?: unknown }
  if (input !== undefined) Object.assign(error as object, { input: shownUrl(input) })
  if (base !== undefined) Object.assign(error as object, { base: shownUrl(base) })
  return error
}
