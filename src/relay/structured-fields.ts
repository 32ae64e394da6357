/** The grammar of Structured Fields (RFC 9651 §4.2), as sources of regular expressions. */

export const KEY: string = '[a-z*][a-z0-9_\\-.*]*'
/** Without dates and display strings, which no field here has. */
export const BARE_ITEM: string =
  '(?:-?[0-9]{1,15}|-?[0-9]{1,12}\\.[0-9]{1,3}|"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\["\\\\])*"|[A-Za-z*][!#$%&\'*+\\-.^_`|~0-9A-Za-z:/]*|:[A-Za-z0-9+/=]*:|\\?[01])'
export const PARAMETERS: string = `(?:; *${KEY}(?:=${BARE_ITEM})?)*`
