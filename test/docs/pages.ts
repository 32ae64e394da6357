/**
 * The documents of the project as their tests see them: pages, the code blocks in them, headings and links.
 * A block of `js`, `ts` or `diff` is a program; `sh` contains commands; anything else is only displayed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  /** `docs/client.md:12` */
  readonly place: string
  readonly language: string
  readonly text: string
}

export interface Page {
  /** Relative to the project's root, with slashes. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
  /** Without the leading `#`, in order. */
  readonly headings: readonly string[]
}

const FENCE = /^(\s*)```([a-z]*)\s*$/

function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks: Block[] = []
  const headings: string[] = []
  let open: { line: number; indent: number; language: string; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    const fence = FENCE.exec(line)
    if (open === null) {
      if (fence !== null) {
        open = { line: index + 1, indent: fence[1]!.length, language: fence[2]!, lines: [] }
      } else if (/^#{1,6} /.test(line)) {
        headings.push(line.replace(/^#+ /, ''))
      }
    } else if (fence !== null && fence[2] === '') {
      blocks.push({
        place: `${path}:${open.line}`,
        language: open.language,
        text: `${open.lines.join('\n')}\n`,
      })
      open = null
    } else {
      open.lines.push(line.slice(open.indent))
    }
  }
  if (open !== null) throw new Error(`${path}:${open.line}: the block has no end`)
  return { path, text, blocks, headings }
}

function markdownFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** The papers and everything under docs/. */
export function readPages(): Page[] {
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...markdownFiles('docs')].map(
    readPage,
  )
}

/** The name by which a link finds a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll('`', '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The program in a block; null if there is none. For a `diff`, the program after the change. */
export function programIn({ language, text }: Block): string | null {
  if (language === 'js' || language === 'ts') return text
  if (language !== 'diff') return null
  return text
    .split('\n')
    .filter((line) => !line.startsWith('-'))
    .map((line) => line.slice(1))
    .join('\n')
}

/** The expected output of a program: the comments `// → …` after its lines. */
export function outputOf(program: string): string[] {
  return [...program.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]!.trim())
}
