// Finds what the declarations of an entry need: all that it exports, what that names, and so on. Names are compared by
// their text alone: what is needed is never missed, and little is kept in vain.
import { dirname, join } from 'node:path'
import { SyntaxKind } from 'typescript/unstable/ast'

export class UsedDeclarations {
  /** The files by path: the nodes of each name, and the names that are needed. */
  files = new Map()
  #program
  #isHidden

  /** `isHidden`: whether a node is left out. */
  constructor(program, entry, isHidden) {
    this.#program = program
    this.#isHidden = isHidden
    this.#useAll(entry)
  }

  /** Whether a statement or a specifier of a file is needed. */
  isUsed(path, node) {
    const nodes = namedNodes(node)
    return nodes.length === 0 || nodes.some(({ name }) => this.files.get(path).used.has(name.text))
  }

  #open(path) {
    if (this.files.has(path)) return this.files.get(path)
    const { text, statements } = this.#program.getSourceFile(path)
    const file = { text, statements, named: new Map(), used: new Set() }
    for (const statement of statements) {
      for (const node of namedNodes(statement)) {
        file.named.set(node.name.text, [...(file.named.get(node.name.text) ?? []), node])
      }
    }
    this.files.set(path, file)
    return file
  }

  #useAll(path) {
    const { named, statements } = this.#open(path)
    for (const name of named.keys()) this.#use(path, name)
    for (const star of statements.filter(isStar)) this.#useAll(targetOf(path, star))
  }

  #use(path, name) {
    const { named, statements, used } = this.#open(path)
    if (used.has(name)) return
    if (named.has(name)) {
      used.add(name)
      for (const node of named.get(name)) this.#visit(path, node)
    } else {
      for (const star of statements.filter(isStar)) this.#use(targetOf(path, star), name)
    }
  }

  #visit(path, node) {
    if (this.#isHidden(node)) return
    const { kind, parent } = node
    if (kind === SyntaxKind.ImportSpecifier) {
      this.#useOther(targetOf(path, parent.parent.parent), node)
    } else if (kind === SyntaxKind.ExportSpecifier) {
      this.#useOther(targetOf(path, parent.parent), node)
    } else if (kind === SyntaxKind.NamespaceImport) {
      this.#useAll(targetOf(path, parent.parent))
    } else if (kind === SyntaxKind.NamespaceExport) {
      this.#useAll(targetOf(path, parent))
    } else if (kind === SyntaxKind.ImportType) {
      this.#useAll(targetOf(path, { moduleSpecifier: node.argument.literal }))
    } else if (kind === SyntaxKind.Identifier && parent.name !== node) {
      this.#use(path, node.text)
    } else {
      node.forEachChild((child) => this.#visit(path, child))
    }
  }

  #useOther(target, { propertyName, name }) {
    if (target !== null) this.#use(target, (propertyName ?? name).text)
  }
}

/** The parts of a statement that have a name of the file: declarations, imports and exports. */
function namedNodes(node) {
  switch (node.kind) {
    case SyntaxKind.ImportDeclaration: {
      const { namedBindings } = node.importClause
      return namedBindings.elements ?? [namedBindings]
    }
    case SyntaxKind.ExportDeclaration:
      return node.exportClause?.elements ?? (node.exportClause === undefined ? [] : [node.exportClause])
    case SyntaxKind.VariableStatement:
      return node.declarationList.declarations
    default:
      return [node]
  }
}

function isStar({ kind, exportClause }) {
  return kind === SyntaxKind.ExportDeclaration && exportClause === undefined
}

/** The path of the file that an import or an export refers to; null for a module of the runtime. */
function targetOf(path, { moduleSpecifier }) {
  if (moduleSpecifier === undefined) return path
  if (!moduleSpecifier.text.startsWith('.')) return null
  return join(dirname(path), moduleSpecifier.text.replace(/\.ts$/, '.d.ts'))
}
