// With `--import` of this file, imports of `src/index.ts` resolve to the build in `dist`, so that the tests of the
// public interface run on the published code (`npm run test:dist`).
import { register } from 'node:module'

const source = new URL('../../src/index.ts', import.meta.url).href
const built = new URL('../../dist/index.js', import.meta.url).href
const hooks = `export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context)
  return resolved.url === ${JSON.stringify(source)}
    ? { ...resolved, url: ${JSON.stringify(built)}, format: 'module' }
    : resolved
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
