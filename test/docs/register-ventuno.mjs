import { register } from 'node:module'

register('./resolve-ventuno.mjs', import.meta.url)
