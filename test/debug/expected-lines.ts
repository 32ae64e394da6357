/** The expected output of scenes: all their lines, with the labels that the flags select. */

/** The letters mark the kind of line: c connection, r request, w WebSocket. */
export type Line = readonly ['c' | 'r' | 'w', string]

/** The label of each kind of line; null if it is not enabled. */
export type Labels = Readonly<Record<Line[0], string | null>>

export function expectedLines(scenes: Readonly<Record<string, readonly Line[]>>, labels: Labels): string[] {
  return Object.entries(scenes).flatMap(([name, lines]) => [
    `# ${name}`,
    ...lines
      .filter(([kind]) => labels[kind] !== null)
      .map(([kind, message]) => `${labels[kind]} PID: ${message}`),
  ])
}
