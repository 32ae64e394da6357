/**
 * What an error tells besides its message: in the first line of its stack, which consoles and loggers print.
 * Never in the message, which people compare, group by, and pass on to their own clients.
 */

/** The stack with words in parentheses behind its first line; one in a form of the caller's own as it is. */
export function withWords(stack: unknown, message: string, words: string): unknown {
  if (typeof stack !== 'string') return stack
  const [line] = message.split('\n', 1) as [string]
  const end = stack.indexOf(line) + line.length
  const endsThere = stack.startsWith('\n', end) || stack.length === end
  return endsThere ? `${stack.slice(0, end)} (${words})${stack.slice(end)}` : stack
}

/** It is formatted when it is asked for, as every stack is: most are never read, and formatting one costs. */
export function defineStack(error: Error, read: () => unknown): void {
  // To define a property reads what was there before, and Node 20 formats the stack for that.
  delete error.stack
  Object.defineProperty(error, 'stack', {
    configurable: true,
    get: read,
    set(value: unknown) {
      Object.defineProperty(this, 'stack', { value, configurable: true, writable: true })
    },
  })
}

/** Reads the stack that an error has now, also when it has got another one since. */
export function ownStack(error: Error): () => unknown {
  const own = Object.getOwnPropertyDescriptor(error, 'stack')
  if (own?.get !== undefined) {
    const { get } = own
    return () => get.call(error) as unknown
  }
  const { stack } = error
  return () => stack
}
