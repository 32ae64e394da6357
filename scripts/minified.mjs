// Gives the published code shorter names, and its layout. The names of functions and classes of the library stay: `name`
// is one of them, and a stack trace shows it. Only names that no user can see become shorter: local variables, for
// bundlers private members, and all names of the command.
import { minify } from '@swc/core'
import { transform } from 'esbuild'
import { esbuildMarks } from './esbuild-marks.mjs'

const LAYOUT = { minifyWhitespace: true, target: 'node20.19', legalComments: 'none' }

/** Characters. A stack trace shows a whole line; a bundler makes lines of its own. */
const LINE = 300

/** By who reads the code. The debugger shows private members, but a bundle is minified in any case. */
const KEPT = {
  node: { keepClassNames: true, keepFnNames: true, keepPrivateProps: true },
  bundlers: { keepClassNames: true, keepFnNames: true, keepPrivateProps: false },
  command: { topLevel: true },
}

/**
 * The code of a file with shorter names. Nothing else changes: a compressor would drop a default value of `undefined`, for
 * example, and with it the `length` that a web interface must have.
 */
export async function minified(code, { reader, isModule }) {
  const mangle = { topLevel: false, ...KEPT[reader] }
  const { code: shorter } = await minify(code, { compress: false, mangle, module: isModule, ecma: 2022 })
  const layout = reader === 'bundlers' ? LAYOUT : { ...LAYOUT, lineLimit: LINE }
  const { code: text } = await transform(shorter, layout)
  return withoutMarks(text)
}

function withoutMarks(text) {
  let code = ''
  let end = 0
  for (const mark of esbuildMarks(text)) {
    code += text.slice(end, mark.start)
    end = mark.end
  }
  return code + text.slice(end)
}
