/**
 * Path of the first difference between two JSON values, such as `.items[2].id`; empty for the root, null for
 * none.
 */
export function differenceAt(expected: unknown, received: unknown): string | null {
  if (Object.is(expected, received)) return null
  if (!isObject(expected) || !isObject(received)) return ''
  if (Array.isArray(expected) !== Array.isArray(received)) return ''
  const names = new Set([...Object.keys(expected), ...Object.keys(received)])
  for (const name of names) {
    const place = Array.isArray(expected) ? `[${name}]` : placeOf(name)
    if (!Object.hasOwn(expected, name) || !Object.hasOwn(received, name)) return place
    const inner = differenceAt(expected[name], received[name])
    if (inner !== null) return place + inner
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function placeOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
