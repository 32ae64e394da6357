// Asks about files of more than 400 lines and classes of more than 15 fields under src/: is there a noun in it that could be
// a file or a class of its own? Where splitting would be artificial, the header of the file or the comment of the class says
// why: "Long because …", "Many fields, because …".
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_LINES = 400
const MAX_FIELDS = 15

/** One class per public error: a list, however long. */
const LISTS = new Set(['errors.ts'])

const src = fileURLToPath(new URL('../src/', import.meta.url))
const HEADER = /^(?:#![^\n]*\n)?(?:\/\*\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n)+)/
const CLASS =
  /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:\/\/[^\n]*\n)*)^(?:export )?(?:abstract )?class (\w+)[\s\S]*?^\}/gm
/** Members of an instance that hold a value, functions included; indented once, so none of an inner class. */
const FIELD = /^ {2}(?:(?:readonly|override|declare|protected|private|abstract) )*#?[\w$]+[?!]?(?: = |: |$)/gm

const complaints = []
let files = 0

for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
  const file = relative(src, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
  files++
  check(file, readFileSync(join(src, file), 'utf8'))
}

if (complaints.length > 0) {
  console.error(complaints.join('\n'))
  process.exit(1)
}
console.log(`sizes: ${files} files are small, or say why not`)

function check(file, text) {
  const lines = text.split('\n').length - 1
  const header = HEADER.exec(text)?.[0] ?? ''
  if (
    lines > MAX_LINES &&
    !LISTS.has(file) &&
    !/\b(long|lines)\b[^.]*\b(because|on purpose)\b/i.test(header)
  ) {
    complaints.push(
      `${file} has ${lines} lines. Does it own two things? Then move one to a file of its name. If not, say why in its header: "Long because …"`,
    )
  }
  for (const [body, comment, name] of text.matchAll(CLASS)) {
    const fields = [...body.slice(comment.length).matchAll(FIELD)].length
    if (fields > MAX_FIELDS && !/\bfields\b[^.]*\b(because|on purpose)\b/i.test(header + comment)) {
      complaints.push(
        `${file}: ${name} has ${fields} fields. Do some change together? Then make them an object with a name. If not, say why in its comment: "Many fields, because …"`,
      )
    }
  }
}
