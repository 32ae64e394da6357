/** How often something was begun, in the words of an error. */
export function attempts(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`
}
