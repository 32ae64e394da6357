/** The words of the environment variable `RUNTIME_DEBUG`; docs/debug-output.md lists them. */

/** Read once, when the library is loaded, as documented: a later change of the variable has no effect. */
export const DEBUG_FLAGS: ReadonlySet<string> = new Set(
  (process.env['RUNTIME_DEBUG'] ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim()),
)
