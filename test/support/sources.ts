/**
 * For tests that start other processes: how these import the sources. `npm test` compiles everything first, into .js
 * files beside the .ts files of a copy of the tree; a single test file that is run by hand has only the .ts files.
 */
const compiled = import.meta.url.endsWith('.js')

/** Arguments for `node` before everything else. */
export const sourceLoader: readonly string[] = compiled ? [] : ['--import', import.meta.resolve('tsx')]

/** The URL of a module, given by its path in the project: `src/index.ts`. */
export function sourceUrl(path: string): string {
  return new URL(`../../${compiled ? path.replace(/\.ts$/, '.js') : path}`, import.meta.url).href
}

/** The URL of another copy of a module of `src/`, as in a process where the library is installed twice. */
export function copyUrl(path: string, name: string): string {
  return `${compiled ? sourceUrl(`copy/${path}`) : sourceUrl(path)}?${name}`
}
