// The package works with bundlers, and a bundle contains only the parts that the program uses.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { build as buildWithVite } from 'vite'
import webpack from 'webpack'
import { run, usePackage } from './packed.mjs'

/** Bytes, not minified. The cookie helpers have 11 KB, webpack adds 1; the smallest client has 250. */
const MAX_COOKIE_BUNDLE = 12_500

/** Bytes of a bundle that uses one export only, minified. */
const MAX_BUNDLES = { request: 312_700, fetch: 372_800, Client: 261_200 }

const BODY = `
async function main() {
  const server = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = 'http://127.0.0.1:' + server.address().port
  const client = new Client(origin)
  const { body } = await client.request({ path: '/', method: 'GET' })
  const other = await request(origin, { dispatcher: client })
  const fetched = await fetch(origin, { dispatcher: client })
  const words = [await body.text(), await other.body.text(), await fetched.text(), client.constructor.name]
  console.log(...words, new errors.SocketError('x') instanceof errors.UndiciError)
  await client.close()
  server.close()
}
main()
`
const OUTPUT = 'hello hello hello Client true'

const REQUEST = `
import http from 'node:http'
import { once } from 'node:events'
import { Client, errors, fetch, request } from 'ventuno'
${BODY}`

const REQUIRE = `
const http = require('node:http')
const { once } = require('node:events')
const { Client, errors, fetch, request } = require('ventuno')
${BODY}`

const DEFAULT = `
import http from 'node:http'
import { once } from 'node:events'
import ventuno from 'ventuno'
const { Client, errors, fetch, request } = ventuno
${BODY}`

const COOKIE = `
import { parseCookie } from 'ventuno'
console.log(parseCookie('a=b; Secure').name)
`

/** With an entry for each part. */
const PARTS = `
import http from 'node:http'
import { once } from 'node:events'
import { Agent } from 'ventuno'
import { http as client } from 'ventuno/http'
import { interceptors } from 'ventuno/interceptors'
import { MockAgent } from 'ventuno/mock'

const server = http.createServer((_, response) => response.end('{"hello":"world"}')).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = 'http://127.0.0.1:' + server.address().port
const agent = new Agent()
const dispatcher = agent.compose(interceptors.retry())
console.log(await client.extend({ dispatcher }).get(origin).json())
const mock = new MockAgent()
mock.get('http://mock.test').intercept({ path: '/' }).reply(200, { hello: 'mock' })
console.log(await client.extend({ dispatcher: mock }).get('http://mock.test/').json())
await Promise.all([agent.close(), mock.close()])
server.close()
`

/** Like Next for its edge runtime: the conditions of browsers and workers, only the runtime's modules are external. */
const EDGE_CONDITIONS = ['edge-light', 'worker', 'browser', 'module', 'import', 'default']

const bundlers = {
  esbuild: async (from, to) => {
    await bundleWithEsbuild(from, to, {})
  },
  'esbuild for the edge': async (from, to) => {
    await bundleWithEsbuild(from, to, { conditions: EDGE_CONDITIONS })
  },
  rollup: async (from, to) => {
    // Late chunks need the chunk that has stand-ins for them.
    const isExpected = ({ code }) => code === 'CIRCULAR_DEPENDENCY' && to.endsWith('.cjs')
    const fail = (warning) => isExpected(warning) || assert.fail(warning.message)
    const plugins = [nodeResolve(), commonjs()]
    const bundle = await rollup({ input: from, plugins, external: /^node:/, onwarn: fail })
    await bundle.write({ file: to, format: to.endsWith('.cjs') ? 'cjs' : 'es' })
    await bundle.close()
  },
  // For a server, with everything but the modules of the runtime in the bundle.
  vite: async (from, to) => {
    const format = to.endsWith('.cjs') ? 'cjs' : 'es'
    await buildWithVite({
      root: dirname(from),
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true },
      build: {
        ssr: from,
        outDir: dirname(to),
        emptyOutDir: false,
        minify: false,
        rollupOptions: { output: { format, entryFileNames: basename(to) } },
      },
    })
  },
  webpack: (from, to) => bundleWithWebpack(from, to, {}),
  'webpack for the edge': (from, to) =>
    bundleWithWebpack(from, to, { resolve: { conditionNames: EDGE_CONDITIONS } }),
}

describe('bundles', () => {
  const { app } = usePackage({ after })

  const bundleOf = async (name, text, extension) => {
    const file = `${name.replaceAll(' ', '-')}-${text.length}`
    const [from, to] = [join(app, `${file}-in.${extension}`), join(app, `${file}-out.${extension}`)]
    writeFileSync(from, text)
    await bundlers[name](from, to)
    return { code: readFileSync(to, 'utf8'), output: run(process.execPath, [to]).trim() }
  }

  for (const name of Object.keys(bundlers)) {
    test(`${name}: a client that was imported works`, async () => {
      const { code, output } = await bundleOf(name, REQUEST, 'mjs')
      assert.equal(output, OUTPUT)
      assert.ok(!/from ?['"]ventuno['"]/.test(code), 'it was not bundled')
    })

    test(`${name}: the parts by their own entries, which share what they are made of`, async () => {
      const { output } = await bundleOf(name, PARTS, 'mjs')
      assert.equal(output, "{ hello: 'world' }\n{ hello: 'mock' }")
    })

    test(`${name}: as the default export`, async () => {
      assert.equal((await bundleOf(name, DEFAULT, 'mjs')).output, OUTPUT)
    })

    test(`${name}: whoever wants cookies gets no client`, async () => {
      const { code, output } = await bundleOf(name, COOKIE, 'mjs')
      assert.equal(output, 'a')
      assert.ok(code.length < MAX_COOKIE_BUNDLE, `${code.length} bytes`)
      assert.ok(!/(from|import|require\() ?['"]node:|UndiciError|Client/.test(code), code)
    })

    // The conditions of the edge are those of an import.
    if (name.includes('edge')) continue
    test(`${name}: a client that was required works`, async () => {
      const { code, output } = await bundleOf(name, REQUIRE, 'cjs')
      assert.equal(output, OUTPUT)
      assert.ok(!/require\(['"]ventuno['"]\)/.test(code), 'it was not bundled')
    })
  }

  for (const [name, size] of Object.entries(MAX_BUNDLES)) {
    test(`esbuild: a minified bundle with ${name} alone is small`, async () => {
      const from = join(app, `alone-${name}.mjs`)
      writeFileSync(from, `import { ${name} } from 'ventuno'\nconsole.log(typeof ${name})\n`)
      await bundleWithEsbuild(from, `${from}.out.mjs`, { minify: true })
      const { length } = readFileSync(`${from}.out.mjs`)
      assert.ok(length <= size, `${length} bytes`)
      assert.equal(run(process.execPath, [`${from}.out.mjs`]).trim(), 'function')
    })
  }

  // Like Next for external server packages.
  for (const [kind, text, extension, type] of [
    ['required', REQUIRE, 'cjs', 'commonjs'],
    ['imported', REQUEST, 'cjs', 'commonjs'],
    ['imported', REQUEST, 'mjs', 'module'],
  ]) {
    test(`webpack: left outside as a ${type} external, and ${kind}`, async () => {
      const [from, to] = ['in', 'out'].map((end) => join(app, `external-${kind}-${type}-${end}.${extension}`))
      const source = kind === 'imported' ? from.replace(/\.cjs$/, '.mjs') : from
      writeFileSync(source, text)
      await bundleWithWebpack(source, to, { externals: { ventuno: `${type} ventuno` } })
      assert.equal(run(process.execPath, [to]).trim(), OUTPUT)
      assert.ok(readFileSync(to, 'utf8').length < 20_000, 'it was bundled')
    })
  }
})

function bundleWithEsbuild(from, to, settings) {
  return build({
    entryPoints: [from],
    outfile: to,
    bundle: true,
    format: to.endsWith('.cjs') ? 'cjs' : 'esm',
    platform: 'node',
    logLevel: 'silent',
    ...settings,
  })
}

async function bundleWithWebpack(from, to, settings) {
  const isModule = to.endsWith('.mjs')
  const stats = await new Promise((resolve, reject) => {
    webpack(
      {
        mode: 'production',
        target: 'node20',
        context: dirname(from),
        entry: from,
        devtool: false,
        output: { path: dirname(to), filename: basename(to), ...(isModule ? { module: true } : null) },
        experiments: { outputModule: isModule },
        // People read the rest, including the names of classes.
        optimization: { minimize: false },
        performance: { hints: false },
        ...settings,
      },
      (error, stats) => (error ? reject(error) : resolve(stats)),
    )
  })
  assert.deepEqual(stats.toJson({ all: false, errors: true, warnings: true }), { errors: [], warnings: [] })
}
