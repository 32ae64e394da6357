// What a version of undici has and the library lacks, by its declarations: exports and the members of the exported
// objects (`interceptors` …), types, options. And where the type of an option differs from that in another version.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is absent on purpose, with the reason. */
export const KNOWN = [
  [/^Spec\w+$/, 'helpers of its declarations'],
  [/\.useMilo$/, 'selects another of its parsers'],
  [/^Client\.H2Options\.\w+$/, 'options of the sessions of node:http2, which is not used'],
  [/^Dispatcher\.PipelineOptions\.body$/, 'the body is what is written to the Duplex'],
  [/^Dispatcher\.PipelineOptions\.highWaterMark$/, 'a type only: its code does not use it'],
  [/^buildConnector\.Options\.socketPath$/, 'an option of the connector, not of a connection'],
]

export function reasonFor(name) {
  return KNOWN.find(([pattern]) => pattern.test(name))?.[1]
}

/**
 * `ts` is the compiler with an API; `named` and `followed` are folders of undici in two versions, `ours` is the file with
 * our exports. Returns for each kind of thing how many there are, and the names of those that are missing.
 */
export function differences({ ts, named, followed, ours, typeRoots }) {
  const entries = [named, followed].map((folder) => join(folder, 'types', 'index.d.ts'))
  const program = ts.createProgram([...entries, ours], {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    typeRoots,
    types: ['node'],
  })
  const [theirs, before, own] = [...entries, ours].map((file) => new Declarations(ts, program, file))
  const text = readFileSync(join(named, 'index.js'), 'utf8')
  const values = [...text.matchAll(/^module\.exports\.(\w+) =/gm)].map(([, name]) => name)
  const hasType = (name) => own.types.has(name.replace(/\.\w+$/, ''))
  return {
    exports: compared(
      [...new Set(values), ...theirs.members],
      new Set([...own.names.keys(), ...own.members]),
    ),
    types: compared([...theirs.types.keys()], own.types),
    // Those of a type that is missing are not listed again.
    options: compared([...theirs.options.keys()].filter(hasType), own.options),
    changed: [...theirs.options].filter(([name, type]) => (before.options.get(name) ?? type) !== type),
  }
}

function compared(names, known) {
  return { count: names.length, missing: names.filter((name) => !known.has(name)) }
}

/** What a file exports. */
class Declarations {
  /** Name → what it stands for. */
  names = new Map()
  /** `Client`, and `Client.Options` of a namespace. */
  types = new Map()
  /** `Client.Options.bodyTimeout` → what it may be. */
  options = new Map()
  /** `interceptors.dns` */
  members = []
  #ts
  #checker

  constructor(ts, program, path) {
    this.#ts = ts
    this.#checker = program.getTypeChecker()
    for (const [name, symbol] of this.#exportsOf(
      this.#checker.getSymbolAtLocation(program.getSourceFile(path)),
    )) {
      this.names.set(name, symbol)
      this.#addType(name, symbol)
      this.#addMembers(name, symbol)
      if (!(symbol.flags & ts.SymbolFlags.Namespace)) continue
      for (const [member, inner] of this.#exportsOf(symbol)) this.#addType(`${name}.${member}`, inner)
    }
  }

  #exportsOf(module) {
    const { SymbolFlags } = this.#ts
    return this.#checker
      .getExportsOfModule(module)
      .map((symbol) => [
        symbol.name,
        symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol,
      ])
  }

  #addType(name, symbol) {
    const { SymbolFlags, TypeFlags } = this.#ts
    if (!(symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias))) return
    this.types.set(name, symbol)
    if (!/(Options|Opts|Init)$/.test(name)) return
    for (const option of this.#checker.getDeclaredTypeOfSymbol(symbol).getApparentProperties()) {
      const type = this.#checker.getTypeOfSymbol(option)
      // `never` only refuses a name of the past.
      if (this.#checker.getNonNullableType(type).flags & TypeFlags.Never) continue
      this.options.set(`${name}.${option.name}`, this.#checker.typeToString(type))
    }
  }

  /** Of exported objects, such as `interceptors`. */
  #addMembers(name, symbol) {
    const { SymbolFlags } = this.#ts
    if (!/^[a-z]/.test(name) || name === 'default' || symbol.flags & SymbolFlags.Function) return
    for (const member of this.#checker.getTypeOfSymbol(symbol).getProperties()) {
      if (/^\w+$/.test(member.name) && member.name !== 'prototype')
        this.members.push(`${name}.${member.name}`)
    }
  }
}
