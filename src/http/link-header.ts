/** The `Link` field (RFC 8288 §3), as far as pages need it. */

/** `rel` and other parameters of a link, each with its value. */
const PARAMETER = /\s*;\s*([^\s=;,]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*)))?/y

/** The target of the first link with this relation; null if there is none. */
export function linkTarget(field: string | readonly string[] | undefined, relation: string): string | null {
  const text = Array.isArray(field) ? field.join(', ') : ((field as string | undefined) ?? '')
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const end = text.indexOf('>', at)
    if (end === -1) return null
    const target = text.slice(at + 1, end)
    const parameters = new Map<string, string>()
    at = end + 1
    for (;;) {
      PARAMETER.lastIndex = at
      const found = PARAMETER.exec(text)
      if (found === null) break
      at = PARAMETER.lastIndex
      const [, name, quoted, plain] = found as unknown as [string, string, string?, string?]
      // The first of its name counts.
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), quoted ?? plain ?? '')
    }
    const relations = parameters.get('rel')?.toLowerCase().split(/\s+/) ?? []
    // One with an anchor is a link of something else.
    if (relations.includes(relation) && !parameters.has('anchor')) return target
  }
  return null
}
