// Resolution for programs taken from the documents: `ventuno` is the source, so that nothing need be built.
const source = new URL('../../src/index.ts', import.meta.url).href

export async function resolve(specifier, context, next) {
  return next(specifier === 'ventuno' ? source : specifier, context)
}
