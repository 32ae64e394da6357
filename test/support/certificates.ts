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
