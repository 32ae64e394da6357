// The verdict of two tools that find mistakes in packages.
import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root, run, usePackage } from './packed.mjs'

/** Programs written for undici, with only the import changed. */
const SAMPLES = ['undici-user', 'proxy-plugin', 'search-transport', 'bot-rest', 'telemetry']

const COMPILERS = {
  7: join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  5: join(root, 'test', 'package', 'node_modules', 'typescript', 'bin', 'tsc'),
}

/** Compiler settings of a program; `kinds` are the extensions of the importers. */
const RESOLUTIONS = {
  node16: { module: 'node16', kinds: ['mts', 'cts'] },
  nodenext: { module: 'nodenext', kinds: ['mts', 'cts'] },
  bundler: { module: 'preserve', moduleResolution: 'bundler', kinds: ['mts', 'cts', 'ts'] },
  // Without `exports`; TypeScript 7 has it no more.
  node10: { module: 'commonjs', moduleResolution: 'node10', kinds: ['ts'], only: '5' },
}

/** A program with each entry of the package, whose types must be those of the library. */
const PARTS = `
import ventuno, { Agent, type Dispatcher, http as whole } from 'ventuno'
import { cacheStores, type CacheStore } from 'ventuno/cache'
import { CookieJar, type Cookie, getSetCookies } from 'ventuno/cookies'
import { EventSource, events } from 'ventuno/event-source'
import { fetch, Headers, type RequestInit, Response } from 'ventuno/fetch'
import { http, type Http, type HttpOptions, type HttpResponse, type StandardSchema } from 'ventuno/http'
import { interceptors } from 'ventuno/interceptors'
import { MockAgent } from 'ventuno/mock'
import { ProxyAgent } from 'ventuno/proxy'
import { WebSocket } from 'ventuno/websocket'

interface User { readonly name: string }
declare const schema: StandardSchema<User>
const options: HttpOptions = { retry: { maxRetries: 2 }, timeout: { total: 1000 }, headers: { 'x-a': ['b', 'c'] } }
const client: Http = http.extend(options)
export const same: typeof whole = client
export async function user(): Promise<string> {
  const typed: User = await client.get('http://localhost/user').json<User>()
  const checked: User = await client.post('http://localhost/user', { json: typed }).json(schema)
  const response: HttpResponse = await client.get('http://localhost/user')
  const init: RequestInit = { headers: new Headers(response.headers as Record<string, string>) }
  const fetched: Response = await fetch('http://localhost', init)
  for await (const { data } of events('http://localhost/events')) return data + fetched.status
  return checked.name
}
const jar = new CookieJar()
const store: CacheStore = new cacheStores.MemoryCacheStore()
const agent: Dispatcher = new Agent().compose(interceptors.retry(), interceptors.cookies({ jar }), interceptors.cache({ store }))
export const dispatchers: Dispatcher[] = [agent, new MockAgent(), new ProxyAgent('http://localhost:1')]
export const cookies: Cookie[] = getSetCookies(new Headers())
export const sources = [new EventSource('http://localhost'), new WebSocket('ws://localhost', { dispatcher: agent })]
export const named: typeof ventuno.request = ventuno.request
// @ts-expect-error: it is a number
http.get('http://localhost', { retry: { maxRetries: 'two' } })
// @ts-expect-error: there is no such option
http.get('http://localhost', { jsn: 1 })
`

describe('the package as tools see it', () => {
  const { tarball, installed, app } = usePackage({ after })

  test('publint has no complaint', async () => {
    const { messages, pkg } = await publint({
      pkgDir: installed,
      level: 'suggestion',
      strict: true,
      pack: false,
    })
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    )
  })

  test('the types are found in every way of resolving', async () => {
    const { types, problems } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
    assert.ok(types, 'no types were found')
    assert.deepEqual(problems, [])
  })

  /** Compiles the samples with another name in place of the path of the source. */
  const compileSamples = (name, compiler, kinds, settings) => {
    const samples = SAMPLES.map((sample) => {
      const text = readFileSync(join(root, 'test', 'types', `${sample}.ts`), 'utf8')
      return [sample, text.replace("'../../src/index.ts'", `'${name}'`)]
    })
    compile(name, samples, compiler, kinds, settings)
  }

  const compile = (name, programs, compiler, kinds, settings) => {
    const files = programs.flatMap(([program, text]) =>
      kinds.map((kind) => {
        const file = join(app, `${name}-${program}.${kind}`)
        writeFileSync(file, text)
        return file
      }),
    )
    const compilerOptions = {
      target: 'ES2023',
      lib: ['ES2023'],
      strict: true,
      noEmit: true,
      esModuleInterop: true,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
      ...settings,
    }
    const project = join(app, `${name}-${settings.module}.json`)
    writeFileSync(project, JSON.stringify({ compilerOptions, files }))
    run(process.execPath, [compiler, '-p', project], { cwd: app })
  }

  // Undici's own types confirm that the samples are valid code for undici.
  test('programs written for undici compile with the types of undici', () => {
    const undici = join(root, 'test', 'package', 'node_modules', 'undici')
    symlinkSync(undici, join(app, 'node_modules', 'undici'), 'junction')
    // Its declarations need a newer library than they declare.
    compileSamples('undici', COMPILERS[7], ['mts'], { module: 'nodenext', skipLibCheck: true })
  })

  for (const version of Object.keys(COMPILERS)) {
    for (const [resolution, { kinds, only = version, ...settings }] of Object.entries(RESOLUTIONS)) {
      if (only !== version) continue
      const strictest = { ...settings, exactOptionalPropertyTypes: true, skipLibCheck: false }
      const title = `TypeScript ${version}, ${resolution}, from ${kinds.join(' and ')}`
      test(`they compile with ours: ${title}`, () => {
        compileSamples('ventuno', COMPILERS[version], kinds, strictest)
      })

      test(`every entry has its types: ${title}`, () => {
        compile('ventuno', [['parts', PARTS]], COMPILERS[version], kinds, strictest)
      })
    }
  }

  test('a class that was imported is the type of one that was required', () => {
    const types = [
      ['imported.mts', `export { Client, errors, Pool } from 'ventuno'`],
      [
        'both.mts',
        `import required = require('ventuno')
        import * as imported from 'ventuno'
        import ventuno, { type Dispatcher } from 'ventuno'
        export const dispatcher: Dispatcher = new required.Client('http://localhost')
        export const pool: required.Pool = new imported.Pool('http://localhost')
        export const options: required.ClientOptions = {} satisfies imported.ClientOptions
        export const same: typeof required.Agent = ventuno.Agent
        export const object: typeof ventuno = required.default`,
      ],
      [
        'replaced.cts',
        `import ventuno = require('ventuno')
        ventuno.default.request = async () => ({}) as never`,
      ],
    ]
    for (const [name, text] of types) writeFileSync(join(app, name), text)
    const words = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023']
    const roots = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node']
    for (const compiler of Object.values(COMPILERS)) {
      const files = types.map(([name]) => join(app, name))
      run(process.execPath, [compiler, ...words, ...roots, ...files], { cwd: app })
    }
  })
})
