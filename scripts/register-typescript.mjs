// `node --import ./scripts/register-typescript.mjs`: TypeScript files can be imported, and stack traces name their lines.
import { register } from 'node:module'

process.setSourceMapsEnabled(true)
register('./typescript-hooks.mjs', import.meta.url)
