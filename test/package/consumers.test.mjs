// Programs that use the installed package: by import, by require, and as a command.
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { root, run, runScript, usePackage } from './packed.mjs'

const CERTS = join(root, 'test', 'support', 'certs')

/** Over every wire: a request with a body, and its response. */
const WIRES = `
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, Client, fetch, H2CClient } from 'ventuno'

const pem = (name) => readFileSync(process.env.CERTS + '/' + name + '.pem', 'utf8')
const identity = { key: pem('localhost-key'), cert: pem('localhost') }
const connect = { ca: pem('ca') }
const echo = (request, response) => request.pipe(response)
const wires = {
  h1: [http.createServer(echo), (port) => new Client('http://localhost:' + port)],
  'h1 over TLS': [https.createServer(identity, echo), (port) => new Client('https://localhost:' + port, { connect })],
  'h2 over TLS': [http2.createSecureServer(identity, echo), (port) => new Client('https://localhost:' + port, { connect })],
  h2c: [http2.createServer(echo), (port) => new H2CClient('http://localhost:' + port)],
}
for (const [name, [server, open]] of Object.entries(wires)) {
  await once(server.listen(0, 'localhost'), 'listening')
  const client = open(server.address().port)
  const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: name })
  console.log(statusCode, await body.text())
  await client.close()
  server.close()
}

const server = http.createServer((_, response) => response.end('fetched'))
await once(server.listen(0, 'localhost'), 'listening')
const dispatcher = new Agent()
const response = await fetch('http://localhost:' + server.address().port, { dispatcher })
console.log(response.status, await response.text())
await dispatcher.close()
server.close()
`

const MEMBERS = `
const members = (value) => typeof value !== 'function' ? typeof value : [
  value.name, value.length, ...Reflect.ownKeys(value).map(String).sort(),
  ...(value.prototype ? Reflect.ownKeys(value.prototype).map(String).sort() : []),
].join()
const shape = {}
for (const [name, value] of Object.entries(library)) shape[name] = members(value)
for (const [name, value] of Object.entries(library.errors)) shape['errors.' + name] = members(value)
console.log(JSON.stringify(shape))
`

/** Modules of the runtime that are loaded on first use: they cost more than the whole library. */
const LAZY = [
  'crypto',
  'dns',
  'net',
  'stream/web',
  'tls',
  'zlib',
  'http',
  'http2',
  'https',
  'internal/deps/undici/undici',
]

describe('the installed package', () => {
  const { app, installed, tarball } = usePackage({ after })

  test('import: the same names, classes and members as the source has', () => {
    const entry = JSON.stringify(pathToFileURL(join(root, 'src', 'index.ts')).href)
    const text = `import * as library from ${entry}\n${MEMBERS}`
    const source = run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', text], {
      cwd: root,
    })
    const shape = JSON.parse(runScript(app, 'members.mjs', `import * as library from 'ventuno'\n${MEMBERS}`))
    assert.deepEqual(shape, JSON.parse(source))
  })

  test('require: the same names, classes and members', () => {
    const [imported, required] = [
      runScript(app, 'members.mjs', `import * as library from 'ventuno'\n${MEMBERS}`),
      runScript(app, 'members.cjs', `const library = require('ventuno')\n${MEMBERS}`),
    ].map((output) => JSON.parse(output))
    // As names of a module, they include the default export.
    delete imported.default
    assert.deepEqual(required, imported)
  })

  test('require: a plain object, each time the same, whose properties can be replaced', () => {
    const output = runScript(
      app,
      'require.cjs',
      `const library = require('ventuno')
      const properties = Object.getOwnPropertyDescriptors(library)
      const fixed = Object.keys(properties).filter((name) => {
        const { writable, configurable, enumerable, get } = properties[name]
        return name !== '__esModule' && (get || !writable || !configurable || enumerable !== (name !== 'default'))
      })
      console.log(library === require('ventuno'), library === require('ventuno').default)
      console.log(Object.getPrototypeOf(library) === Object.prototype, Object.isExtensible(library), fixed.length)
      import('ventuno').then((imported) => {
        console.log(imported.Client === library.Client, Object.keys(imported.default).join() === Object.keys(library).join())
      })`,
    )
    assert.deepEqual(output.split('\n'), ['true true', 'true true 0', 'true true'])
  })

  test("npm puts it in undici's place, as the guide on migrating shows", () => {
    const guide = readFileSync(join(root, 'docs', 'guides', 'migrating.md'), 'utf8')
    const manifest = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(guide)[1])
    assert.equal(manifest.dependencies.undici, `file:./${basename(tarball)}`)
    const folder = join(app, 'overridden')
    const parser = join(folder, 'parser')
    mkdirSync(parser, { recursive: true })
    copyFileSync(tarball, join(folder, basename(tarball)))
    // Any package that depends on undici; packed here, so that no registry is needed.
    manifest.dependencies.cheerio = 'file:./cheerio-1.2.0.tgz'
    const dependencies = { undici: '^7.19.0' }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }))
    writeFileSync(
      join(parser, 'package.json'),
      JSON.stringify({ name: 'cheerio', version: '1.2.0', dependencies }),
    )
    writeFileSync(
      join(parser, 'index.js'),
      `exports.found = require('undici/package.json').name + ' ' + typeof require('undici').request`,
    )
    const npm = { cwd: folder, shell: process.platform === 'win32' }
    run('npm', ['pack', './parser'], npm)
    run('npm', ['install', '--offline', '--no-audit', '--no-fund'], npm)
    const output = runScript(folder, 'program.cjs', `console.log(require('cheerio').found)`)
    assert.equal(output, 'ventuno function')
  })

  test('nothing but the entries and the manifest can be loaded', () => {
    const paths = [
      'dist/index.js',
      'dist/index.cjs',
      'dist/chunks/main.cjs',
      'dist/esm/index.js',
      'package',
      'client',
    ]
    const output = runScript(
      app,
      'deep.mjs',
      `import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      for (const path of ${JSON.stringify(paths)}) {
        const required = (() => { try { require('ventuno/' + path) } catch (error) { return error.code } })()
        const imported = await import('ventuno/' + path).catch((error) => error.code)
        console.log(required, imported)
      }`,
    )
    const refused = 'ERR_PACKAGE_PATH_NOT_EXPORTED'
    assert.deepEqual(new Set(output.split('\n')), new Set([`${refused} ${refused}`]))
  })

  test('its manifest can be required', () => {
    assert.equal(
      runScript(app, 'manifest.cjs', `console.log(require('ventuno/package.json').name)`),
      'ventuno',
    )
  })

  test('requests over HTTP/1.1 and HTTP/2, with and without TLS, and fetch', () => {
    process.env.CERTS = CERTS
    const output = runScript(app, 'wires.mjs', WIRES)
    assert.deepEqual(output.split('\n'), [
      '200 h1',
      '200 h1 over TLS',
      '200 h2 over TLS',
      '200 h2c',
      '200 fetched',
    ])
  })

  for (const [way, name, load] of [
    ['import', 'loaded.mjs', `await import('ventuno')`],
    ['require', 'loaded.cjs', `require('ventuno')`],
  ]) {
    test(`${way} loads no part of the runtime that is not needed yet`, () => {
      const loaded = runScript(
        app,
        name,
        `const before = new Set(process.moduleLoadList)
        ${load}
        console.log(process.moduleLoadList.filter((name) => !before.has(name)).join('\\n'))`,
      )
      const names = loaded.split('\n').map((line) => line.replace('NativeModule ', ''))
      assert.ok(names.includes('stream'), loaded)
      assert.deepEqual(
        LAZY.filter((name) => names.includes(name)),
        [],
      )
    })

    test(`${way} leaves the process as it was: no global, no listener, nothing open, nothing written`, () => {
      const output = runScript(
        app,
        `effects-${name}`,
        `const globals = () => Reflect.ownKeys(globalThis).map((name) => {
          const { get, set, value, ...flags } = Object.getOwnPropertyDescriptor(globalThis, name)
          return [name, get, set, get ? null : value, JSON.stringify(flags)]
        })
        const state = () => ({
          globals: globals(),
          prototypes: [Object, Function, Array, Promise, Error, Buffer].map(({ prototype }) => Reflect.ownKeys(prototype)),
          listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
          resources: process.getActiveResourcesInfo().filter((name) => !/File|Request/.test(name)),
          environment: { ...process.env },
        })
        const assert = ${way === 'import' ? `(await import('node:assert/strict')).default` : `require('node:assert/strict')`}
        // Reading some of them loads their modules.
        state()
        const before = state()
        ${load}
        assert.deepEqual(state(), before)
        console.log('unchanged')`,
      )
      assert.equal(output, 'unchanged')
    })
  }

  test('the first program of its README runs', () => {
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    const [, program] = /```js\n([\s\S]*?)```/.exec(readme)
    const [, expected] = /\/\/ → (.*)/.exec(program)
    const origin = `import http from 'node:http'
      const server = http.createServer((request, response) => response.end('{"hello":"world"}'))
      await new Promise((resolve) => server.listen(0, 'localhost', resolve))
      `
    const address = "'http://localhost:3000"
    assert.ok(program.includes(address))
    const text = `${origin}${program.replace(address, "'http://localhost:' + server.address().port + '")}\nserver.close()`
    assert.equal(runScript(app, 'readme.mjs', text), expected.trim())
  })

  test('errors of one copy match the classes of another', () => {
    const copy = JSON.stringify(pathToFileURL(join(installed, 'dist', 'esm', 'index.js')).href)
    const output = runScript(
      app,
      'copies.mjs',
      `import { errors } from 'ventuno'
      const other = await import(${copy} + '?copy')
      const error = new other.errors.InvalidArgumentError('x')
      console.log(other.errors !== errors, error instanceof errors.InvalidArgumentError, error.name)`,
    )
    assert.equal(output, 'true true InvalidArgumentError')
  })

  test('the command is there', () => {
    const command = join(
      app,
      'node_modules',
      '.bin',
      process.platform === 'win32' ? 'ventuno.cmd' : 'ventuno',
    )
    const options = { cwd: app, shell: process.platform === 'win32' }
    assert.match(run(command, ['--help'], options), /Usage: ventuno/)
    assert.match(run(command, ['--version'], options), /\d+\.\d+\.\d+/)
  })
})
