import { readFileSync } from 'node:fs'

const read = (name: string): string => readFileSync(new URL(`./certs/${name}.pem`, import.meta.url), 'utf8')

/** Signs all the others. */
export const authority: string = read('ca')

/** For localhost, 127.0.0.1, ::1 and *.example.test. */
export const localhost: { key: string; cert: string } = {
  key: read('localhost-key'),
  cert: read('localhost'),
}

/** For other.test only. */
export const other: { key: string; cert: string } = { key: read('other-key'), cert: read('other') }

/** A client's. */
export const clientIdentity: { key: string; cert: string } = { key: read('client-key'), cert: read('client') }

/** An authority, and one certificate of it for both a client and localhost. */
export interface Generation {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Authorities that replace each other: none trusts another. */
export const generations: readonly Generation[] = [1, 2, 3].map((number) => {
  const [ca, cert, key] = read(`generation-${number}`).split(/(?<=-----END [A-Z ]+-----\n)/) as [
    string,
    string,
    string,
  ]
  return { ca, cert, key }
})
