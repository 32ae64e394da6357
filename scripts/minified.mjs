// Makes the published code shorter. The names of functions and classes stay: `name` is one of them, and a stack trace shows
// it. Only names that no user can see become shorter: local variables and, for bundlers, private members.
import { minify } from '@swc/core'
import { transform } from 'esbuild'
import { esbuildMarks } from './esbuild-marks.mjs'

const LAYOUT = { minifySyntax: true, minifyWhitespace: true, target: 'node20.19', legalComments: 'none' }

/** Characters. A stack trace shows a whole line; a bundler makes lines of its own. */
const LINE = 300

/**
 * The code of a file with shorter names. Nothing else changes: a compressor would drop a default value of `undefined`, for
 * example, and with it the `length` that a web interface must have. The debugger shows private members, but a bundle is
 * minified in any case.
 */
export async function minified(code, { forBundlers, isModule }) {
  const mangle = { topLevel: false, keepClassNames: true, keepFnNames: true, keepPrivateProps: !forBundlers }
  const { code: shorter } = await minify(code, { compress: false, mangle, module: isModule, ecma: 2022 })
  const { code: text } = await transform(shorter, forBundlers ? LAYOUT : { ...LAYOUT, lineLimit: LINE })
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
