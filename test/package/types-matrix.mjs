// What types-matrix.test.mjs compiles, and where the types differ from undici's on purpose.

export const VERSIONS_OF_NODE = [20, 22, 24, 26]

/** Compiler settings of a program; `kinds` are the extensions of its files. Every version of `@types/node` gets all. */
export const SETTINGS = {
  'TypeScript 7, nodenext, exact': {
    compiler: 7,
    kinds: ['mts', 'cts'],
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    exactOptionalPropertyTypes: true,
  },
  'TypeScript 7, node16, dom, exact': {
    compiler: 7,
    kinds: ['mts', 'cts'],
    module: 'node16',
    target: 'es2023',
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
    exactOptionalPropertyTypes: true,
  },
  'TypeScript 7, bundler': {
    compiler: 7,
    kinds: ['ts'],
    module: 'preserve',
    moduleResolution: 'bundler',
    target: 'es2024',
    lib: ['esnext'],
  },
  'TypeScript 5, node10, dom': {
    compiler: 5,
    kinds: ['ts'],
    module: 'commonjs',
    moduleResolution: 'node10',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    esModuleInterop: true,
  },
}

const EVERYWHERE = /./

/** Where `lib.dom` or undici 6, in the types of older versions of Node.js, declares a class of its own for files. */
const TWO_CLASSES_OF_FILES = {
  in: /node 2[02]|dom/,
  reason:
    "A file in a form of ours is one for node:buffer and for the global FormData: our responses are the runtime's for " +
    "the compiler, too. Undici's files are only those of node:buffer, and its responses are not.",
}

/** Snippets that compile with undici and not with this package, in which settings, and why. */
export const EXCEPTIONS = {
  'core/both-responses': {
    in: EVERYWHERE,
    reason: "Undici says that `body.body` of a response is never there. It is: it is the body's web stream.",
  },
  'core/both-variables': {
    in: EVERYWHERE,
    reason:
      'By its types, what a dispatcher of undici returns has no `body.body`, and it has no `timings`. All that takes a ' +
      'dispatcher takes that of undici.',
  },
  'core/diagnostics-failed-socket': {
    in: EVERYWHERE,
    reason: 'The message has no `socket`, not that of undici either.',
  },
  'core/dns-pick': {
    in: EVERYWHERE,
    reason:
      'Without the option `affinity` that argument is null, with undici as well: `records[null]` is a mistake.',
  },
  'core/retry-error-arguments': {
    in: EVERYWHERE,
    reason:
      'The constructor takes `{ headers, data }`, that of undici as well: headers given as its types say are lost.',
  },
  'web/cache-storage-value': {
    in: EVERYWHERE,
    reason:
      'There is no such value, and undici exports none either: `CacheStorage` is only the type of `caches`.',
  },
  'web/cache-storage-from-undici': TWO_CLASSES_OF_FILES,
  'web/constructors-from-undici': TWO_CLASSES_OF_FILES,
  'web/fetch-from-undici': TWO_CLASSES_OF_FILES,
  'web/form-data-from-undici': TWO_CLASSES_OF_FILES,
  'web/request-from-undici': TWO_CLASSES_OF_FILES,
  'web/response-from-undici': TWO_CLASSES_OF_FILES,
  'web/init-as-undici': {
    in: /exact|node 2[024]|dom/,
    reason:
      "Our options may be undefined, and may have the bodies and headers of the runtime's types. Undici's code takes " +
      'them as well, and its types refuse them.',
  },
}
