/** Certificates as the files that programs read, and as the options that make a client trust or present them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { authority, clientIdentity } from '../support/certificates.ts'

const shared = (name: string): string =>
  fileURLToPath(new URL(`../support/certs/${name}.pem`, import.meta.url))
const own = (name: string): string => readFileSync(new URL(`./certs/${name}.pem`, import.meta.url), 'utf8')

export const AUTHORITY_FILE: string = shared('ca')
export const KEY_FILE: string = shared('localhost-key')
export const CERT_FILE: string = shared('localhost')

/** Certificate and key in one text, which some programs need. */
export const certificateWithKey = (): string =>
  readFileSync(CERT_FILE, 'utf8') + readFileSync(KEY_FILE, 'utf8')

/** Makes a client trust the certificate above. */
export const TRUST: { readonly ca: string } = { ca: authority }

/** A client's, signed by the authority. */
export const IDENTITY: { readonly key: string; readonly cert: string } = clientIdentity

/** A client's, not signed by an authority. */
export const STRANGER: { readonly key: string; readonly cert: string } = {
  key: own('stranger-key'),
  cert: own('stranger'),
}
