import { UsageError } from './options.ts'

/** A file that cannot be read or written is a mistake of the user. */
export async function onFile<T>(
  verb: string,
  name: string,
  action: (name: string) => Promise<T>,
): Promise<T> {
  try {
    return await action(name)
  } catch (error) {
    throw new UsageError(`cannot ${verb} ${name}: ${(error as Error).message}`)
  }
}
