// Which chunk exports what under which name.
import { membersOf, NAMESPACES } from './chunks.mjs'

export class Plan {
  chunks
  #graph
  #publicNames
  #chunkOf = new Map()
  /** Of the modules that other chunks or entries refer to: each export, and its name in the chunk. */
  #exports = new Map()

  constructor(graph, publicNames, chunks) {
    this.chunks = chunks
    this.#graph = graph
    this.#publicNames = publicNames
    for (const chunk of chunks) for (const module of chunk.modules) this.#chunkOf.set(module, chunk)
    const wanted = new Map()
    const want = (module, names) => {
      if (!wanted.has(module)) wanted.set(module, new Set())
      for (const name of names) wanted.get(module).add(name)
    }
    for (const [name, module] of publicNames) if (!(name in NAMESPACES)) want(module, [name])
    for (const name of Object.keys(NAMESPACES)) {
      for (const [member, module] of membersOf(graph, name)) want(module, [member])
    }
    for (const chunk of chunks) {
      for (const [module, names] of this.#takenBy(chunk)) want(module, names)
    }
    for (const { modules } of chunks) this.#name(modules, wanted)
  }

  /** The modules of other chunks that a chunk imports, each with the names that it takes. */
  #takenBy(chunk) {
    const imports = chunk.modules.flatMap((module) => [...this.#graph.get(module).taken])
    const others = imports.filter(([module]) => this.#chunkOf.get(module) !== chunk)
    return others.map(([module, names]) => [module, names ?? this.#graph.get(module).exports])
  }

  /** The same by module, with the name of each in its chunk. */
  neededBy(chunk) {
    const needed = new Map()
    for (const [module, names] of this.#takenBy(chunk)) {
      if (!needed.has(module)) needed.set(module, new Map())
      for (const name of names) needed.get(module).set(name, this.#exports.get(module).get(name))
    }
    return needed
  }

  /** What the package exports keeps its name. */
  #name(modules, wanted) {
    const taken = new Set()
    for (const module of modules.filter((module) => wanted.has(module))) {
      const names = new Map()
      for (const name of wanted.get(module)) {
        const isPublic = this.#publicNames.get(name) === module
        let unique = name
        for (let count = 2; taken.has(unique) || (this.#publicNames.has(unique) && !isPublic); count++) {
          unique = `${name}$${count}`
        }
        taken.add(unique)
        names.set(name, unique)
      }
      this.#exports.set(module, names)
    }
  }

  chunkOf(module) {
    return this.#chunkOf.get(module)
  }

  /** The exports of a module by their names in the chunk; undefined if no other chunk refers to it. */
  exportsOf(module) {
    return this.#exports.get(module)
  }

  place(module, name) {
    return { chunk: this.#chunkOf.get(module), exported: this.#exports.get(module).get(name) }
  }

  isLate(name) {
    const modules =
      name in NAMESPACES ? [...membersOf(this.#graph, name).values()] : [this.#publicNames.get(name)]
    return modules.some((module) => this.#chunkOf.get(module)?.isLate)
  }
}
