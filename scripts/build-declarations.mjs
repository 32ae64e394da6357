// Runs after tsc: keeps the declarations that those in dist/index.d.ts need. There is one set, of the CommonJS kind, which
// both kinds of modules may import, so that an imported `Client` has the same type as a required one. Only the entry
// exists twice. The files refer to each other as `.cjs`, which every version of TypeScript finds with any settings.
// Private and protected members are left out: with one, a class is compatible with itself alone, not with the class of
// undici, of the runtime, or of another version of this package, which do the same at run time. What is only a type is
// not imported and exported as such: a program may then write `import RequestOptions = Dispatcher.RequestOptions`.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ModifierFlags, SyntaxKind } from 'typescript/unstable/ast'
import { API, SymbolFlags } from 'typescript/unstable/sync'
import { UsedDeclarations } from './used-declarations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const compiler = new API({ cwd: root })
/** By this name, since the result of a default import depends on the kinds of both modules. */
const DEFAULT_EXPORT = 'ventuno'

const project = join(dist, 'tsconfig.json')
writeFileSync(project, JSON.stringify({ extends: '../tsconfig.json', files: ['index.d.ts'], include: [] }))
const { program, checker } = compiler.updateSnapshot({ openProjects: [project] }).getProject(project)
const used = new UsedDeclarations(program, join(dist, 'index.d.ts'), isHidden)
for (const [path, file] of used.files) write(path, file)
compiler.close()
rmSync(project)
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && entry.name.endsWith('.d.ts')) rmSync(join(entry.parentPath, entry.name))
}
for (const entry of readdirSync(dist, { withFileTypes: true })) {
  const folder = join(dist, entry.name)
  if (entry.isDirectory() && !hasFiles(folder)) rmSync(folder, { recursive: true })
}
writeFileSync(
  join(dist, 'index.d.ts'),
  `export * from './index.cjs';\nexport { ${DEFAULT_EXPORT} as default } from './${DEFAULT_EXPORT}.cjs';\n`,
)
// Tools that compare the declarations with the code do not look through `export *`: the entry has the parts themselves.
writeFileSync(join(dist, 'index.d.cts'), inlined('index'))
for (const file of readdirSync(dist).filter((file) => file.startsWith('surface-'))) {
  const part = file.slice(0, -'.d.cts'.length)
  writeFileSync(join(dist, `${part}.d.ts`), `export * from './${part}.cjs';\n`)
}
console.log(`declarations: ${used.files.size + 1} files`)

/** The text of a file, with that of the lists in place of `export *`. */
function inlined(name) {
  const lines = readFileSync(join(dist, `${name}.d.cts`), 'utf8')
    .trimEnd()
    .split('\n')
  const texts = lines.map((line) => {
    const [, list] = /^export \* from '\.\/(surface.*)\.cjs';$/.exec(line) ?? []
    return list === undefined ? line : inlined(list).trimEnd()
  })
  return `${texts.join('\n')}\n`
}

function write(path, { text, statements }) {
  const edits = []
  const [first] = statements
  const isKept = (node) => used.isUsed(path, node)
  // The comment of the file is for those who read the source; that of a declaration is for those who use it.
  if (isReference(first) && isKept(first)) edits.push({ start: first.pos, end: first.getStart(), insert: '' })
  for (const statement of statements) {
    if (isKept(statement)) visit(statement, edits, isKept)
    else edits.push({ start: statement.pos, end: statement.end, insert: '' })
  }
  let result = ''
  let from = 0
  for (const { start, end, insert } of edits) {
    result += text.slice(from, start) + insert
    from = end
  }
  writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), result + text.slice(from))
}

/** Finds the changes to make, in the order of the text. */
function visit(node, edits, isKept) {
  const { kind, parent } = node
  if (kind === SyntaxKind.StringLiteral && node.text.startsWith('.') && isSpecifier(node)) {
    edits.push({ start: node.end - "ts'".length, end: node.end, insert: "cjs'" })
  } else if (isHidden(node)) {
    edits.push({ start: node.pos, end: node.end, insert: '' })
  } else if (kind === SyntaxKind.NamedImports || kind === SyntaxKind.NamedExports) {
    // What a namespace exports is not a name of the file.
    const isOfFile = parent.parent.kind !== SyntaxKind.ModuleBlock
    const elements = node.elements.filter((element) => !isOfFile || isKept(element)).map(specifier)
    edits.push({ start: node.getStart(), end: node.end, insert: `{ ${elements.join(', ')} }` })
  } else {
    visitTypeOnly(node, edits)
    node.forEachChild((child) => visit(child, edits, isKept))
  }
}

/** Imports and exports what is marked as a type without the mark. A class stays a type where it is exported as one. */
function visitTypeOnly(node, edits) {
  if (node.kind === SyntaxKind.ImportClause && node.phaseModifier !== undefined) {
    edits.push({ start: node.getStart(), end: node.namedBindings.getStart(), insert: '' })
  } else if (node.kind === SyntaxKind.ExportDeclaration && node.isTypeOnly) {
    edits.push({ start: node.getStart(), end: node.exportClause.getStart(), insert: 'export ' })
  }
}

function specifier({ kind, propertyName, name, isTypeOnly, parent }) {
  const text = propertyName === undefined ? name.text : `${propertyName.text} as ${name.text}`
  if (kind === SyntaxKind.ImportSpecifier) return text
  return isTypeOnly || (parent.parent.isTypeOnly && isValue(name)) ? `type ${text}` : text
}

function isValue(name) {
  const { flags } = checker.getAliasedSymbol(checker.getSymbolAtLocation(name))
  return (flags & SymbolFlags.Value) !== 0
}

function isReference({ kind }) {
  return kind === SyntaxKind.ImportDeclaration || kind === SyntaxKind.ExportDeclaration
}

function isSpecifier({ parent }) {
  return isReference(parent) || parent.parent?.kind === SyntaxKind.ImportType
}

/** TypeScript writes one `#private` for all private members of a class. */
function isHidden({ name, modifierFlags }) {
  return name?.kind === SyntaxKind.PrivateIdentifier || (modifierFlags & ModifierFlags.Protected) !== 0
}

function hasFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
}
