/** Text of others for a terminal or a table. */

/** Control characters and line separators: they must neither fake a second line nor control a terminal. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu

/** The user's name and password in a URL. */
const USERINFO = /\/\/[^\s/?#]*@/g

/** On one line, and without the credentials of URLs. */
export function oneLine(text: string): string {
  return text.replace(USERINFO, '//').replace(CONTROLS, ' ')
}
