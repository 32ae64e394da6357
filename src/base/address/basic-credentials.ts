/** The credentials of a URL as the value of an `authorization` field (RFC 7617); null if it has none. */
export function basicCredentials({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  const octets = `${username}:${password}`.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return `Basic ${Buffer.from(octets, 'latin1').toString('base64')}`
}

export function withoutCredentials(url: URL): URL {
  const copy = new URL(url)
  copy.username = ''
  copy.password = ''
  return copy
}
