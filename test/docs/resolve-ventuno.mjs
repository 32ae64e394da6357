// Resolution for programs taken from the documents: `ventuno` is the source, so that nothing need be built.
import { existsSync } from 'node:fs'

const [compiled, written] = ['js', 'ts'].map((type) => new URL(`../../src/index.${type}`, import.meta.url))
const source = (existsSync(compiled) ? compiled : written).href

export async function resolve(specifier, context, next) {
  return next(specifier === 'ventuno' ? source : specifier, context)
}
