/**
 * Files that are replaced as a whole: another program reads the old content or the new one, never a part, and
 * a crash leaves the old one. Content is written to a draft beside the file, which then takes its place.
 */
import { type FileHandle, open, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { loadCrypto } from './lazy-modules.ts'

/** Of the bits that `stat` reports, those that are permissions. */
const PERMISSIONS = 0o7777

export interface FileContent {
  readonly text: string
  readonly encoding?: 'utf8' | 'latin1'
  /**
   * The most permissions that the file may have. Default: those that it has; if it is new, what the process
   * gives.
   */
  readonly mode?: number
}

/**
 * A symbolic link stays one, and a file keeps its permissions, or some of them. What is no file, such as a
 * pipe, is written to.
 */
export async function replaceFile(path: string, content: FileContent): Promise<void> {
  const { text, encoding = 'utf8', mode } = content
  const known = await ifThere(stat(path))
  if (known !== null && !known.isFile()) {
    await writeFile(path, text, encoding)
    return
  }
  const target = known === null ? await newTarget(path) : await realpath(path)
  const draft = await openDraft(target, known === null ? mode : 0o600)
  try {
    try {
      await draft.file.writeFile(text, encoding)
      // Only now: the draft of a file that cannot be written to must be.
      if (known !== null) await draft.file.chmod(known.mode & (mode ?? PERMISSIONS))
    } finally {
      await draft.file.close()
    }
    await rename(draft.name, target)
  } catch (error) {
    await rm(draft.name, { force: true })
    throw error
  }
}

/** Where a link leads to that points to nothing yet. */
async function newTarget(path: string): Promise<string> {
  try {
    return resolve(dirname(path), await readlink(path))
  } catch {
    return path
  }
}

/**
 * Nobody can foresee the name, and a file or link that has it is not opened: in a folder that others may
 * write to, it could lead to another file. Two writers of one file have drafts of their own.
 */
async function openDraft(
  target: string,
  mode: number | undefined,
): Promise<{ readonly name: string; readonly file: FileHandle }> {
  const name = `${target}.${loadCrypto().randomBytes(8).toString('hex')}.tmp`
  return { name, file: await open(name, 'wx', mode) }
}

/** Null if there is no such file. */
export async function ifThere<T>(action: Promise<T>): Promise<T | null> {
  try {
    return await action
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
