/** The file of `--cookie-jar`: a cookies.txt, as curl reads and writes it. */
import { readFile } from 'node:fs/promises'
import { ifThere, replaceFile } from '../base/node/whole-file.ts'
import { CookieJar } from '../index.ts'

/** An empty jar if there is no file yet. */
export async function readJar(name: string): Promise<CookieJar> {
  const text = await ifThere(readFile(name, 'latin1'))
  return text === null ? new CookieJar() : CookieJar.fromNetscape(text)
}

/** Cookies are secrets: no other user may read the file. */
export function saveJar(name: string, jar: CookieJar): Promise<void> {
  return replaceFile(name, { text: jar.toNetscape(), encoding: 'latin1', mode: 0o600 })
}
