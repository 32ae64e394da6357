/** The file of `--cookie-jar`: a cookies.txt, as curl reads and writes it. */
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { CookieJar } from '../index.ts'

/** An empty jar if there is no file yet. */
export async function readJar(name: string): Promise<CookieJar> {
  const text = await ifThere(readFile(name, 'latin1'))
  return text === null ? new CookieJar() : CookieJar.fromNetscape(text)
}

/** In one step, so that another program never reads half a file. Cookies are secrets: no other user may read it. */
export async function saveJar(name: string, jar: CookieJar): Promise<void> {
  const text = jar.toNetscape()
  const known = await ifThere(stat(name))
  if (known !== null && !known.isFile()) {
    // A device or a pipe, which must not be replaced.
    await writeFile(name, text, 'latin1')
    return
  }
  const target = known === null ? name : await realpath(name)
  const temporary = `${target}.${process.pid}.tmp`
  try {
    await writeFile(temporary, text, { encoding: 'latin1', mode: 0o600 })
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Null if there is no such file. */
async function ifThere<T>(action: Promise<T>): Promise<T | null> {
  try {
    return await action
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
