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

const DISPATCHERS = { in: EVERYWHERE, reason: 'to be mended: dispatchers in options' }

/** Snippets that compile with undici and not with this package, in which settings, and why. */
export const EXCEPTIONS = {
  'core/both-responses': {
    in: /exact/,
    reason: "Undici says that `body.body` of a response is never there. It is: it is the body's web stream.",
  },
  'core/both-variables': {
    in: EVERYWHERE,
    reason:
      'By its types, what a dispatcher of undici returns has no `body.body`, and it has no `timings`. All that takes a ' +
      'dispatcher takes that of undici.',
  },
  'web/cache-storage-from-undici': TWO_CLASSES_OF_FILES,
  'web/form-data-from-undici': TWO_CLASSES_OF_FILES,
  'web/request-from-undici': TWO_CLASSES_OF_FILES,
  'web/response-from-undici': TWO_CLASSES_OF_FILES,
  'web/constructors-as-undici': DISPATCHERS,
  'web/constructors-from-undici': DISPATCHERS,
  'web/event-source-replaces-global': DISPATCHERS,
  'web/fetch-as-global': DISPATCHERS,
  'web/fetch-as-undici': DISPATCHERS,
  'web/fetch-from-global': DISPATCHERS,
  'web/fetch-from-undici': DISPATCHERS,
  'web/fetch-replaces-global': DISPATCHERS,
  'web/global-fetch-with-dispatcher': DISPATCHERS,
  'web/global-fetch-with-dispatcher-cast': DISPATCHERS,
  'web/init-as-undici': DISPATCHERS,
  'web/init-from-undici': DISPATCHERS,
  'web/request-init-as-global': DISPATCHERS,
  'web/request-init-from-global': DISPATCHERS,
  'web/request-replaces-global': DISPATCHERS,
  'web/sdk-fetch-options-dispatcher': DISPATCHERS,
  'web/socket-constructors-as-undici': DISPATCHERS,
  'web/socket-constructors-from-undici': DISPATCHERS,
  'web/web-socket-replaces-global': DISPATCHERS,
}
