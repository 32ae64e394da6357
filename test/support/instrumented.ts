/**
 * For tests that measure time or memory: under a coverage tool the code has other costs, so the figures mean nothing.
 * `npm test` runs them.
 */
export const UNLESS_INSTRUMENTED: { readonly skip: string | false } = {
  skip:
    process.env['NODE_V8_COVERAGE'] === undefined ? false : 'measures code as it is, without instrumentation',
}
