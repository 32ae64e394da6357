/** What scenes lead to: the lines of all of them, under the labels that the flags bring about. */

/** The letters say whose line it is: c connection, r request, w WebSocket. */
export type Line = readonly ['c' | 'r' | 'w', string]

/** The label of each kind of line; null where nobody asked for it. */
export type Labels = Readonly<Record<Line[0], string | null>>

export function expectedLines(scenes: Readonly<Record<string, readonly Line[]>>, labels: Labels): string[] {
  return Object.entries(scenes).flatMap(([name, lines]) => [
    `# ${name}`,
    ...lines
      .filter(([kind]) => labels[kind] !== null)
      .map(([kind, message]) => `${labels[kind]} PID: ${message}`),
  ])
}
