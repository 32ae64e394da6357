// Common test runners load the package, make requests, and replace its exports.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { root, run, runScript, usePackage } from './packed.mjs'

const tools = join(root, 'test', 'package', 'node_modules')

/** A program that uses the package, as a CommonJS module that the tests load. */
const PROGRAM = `
const { Client, fetch, H2CClient, request } = require('ventuno')
exports.requests = async (origin, h2c) => {
  const client = new Client(origin)
  const cleartext = new H2CClient(h2c)
  const post = { path: '/', method: 'POST', body: Buffer.from('a') }
  const first = await client.request(post)
  const second = await cleartext.request({ ...post, body: ['b'] })
  const third = await request(origin, { method: 'POST', body: new Blob(['c']), dispatcher: client })
  const fourth = await fetch(origin, { method: 'POST', body: 'd', dispatcher: client })
  const texts = [await first.body.text(), await second.body.text(), await third.body.text(), await fourth.text()]
  await Promise.all([client.close(), cleartext.close()])
  return texts.join('')
}
exports.status = async (url) => (await require('ventuno').request(url)).statusCode
`

/** With the API of Jest, which Vitest shares. */
const TESTS = `
const origins = async (use) => {
  const echo = (request, response) => request.pipe(response)
  const servers = [http.createServer(echo), http2.createServer(echo)]
  for (const server of servers) await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  try {
    return await use(...servers.map((server) => 'http://127.0.0.1:' + server.address().port))
  } finally {
    for (const server of servers) server.close()
  }
}
test('requests', async () => {
  expect(await origins(program.requests)).toBe('abcd')
})
test('errors', async () => {
  const client = new ventuno.Client('http://127.0.0.1:1')
  const error = await client.request({ path: 'x', method: 'GET' }).catch((error) => error)
  expect(error).toBeInstanceOf(ventuno.errors.InvalidArgumentError)
  expect(error).toBeInstanceOf(Error)
  await client.close()
})
`

const JEST = `
const http = require('node:http')
const http2 = require('node:http2')
const ventuno = require('ventuno')
const program = require('./program.cjs')
${TESTS}
test('an export is spied on, and given back', async () => {
  const real = ventuno.request
  jest.spyOn(ventuno, 'request').mockResolvedValue({ statusCode: 299 })
  expect(await program.status('http://nowhere.test')).toBe(299)
  expect(ventuno.request).toHaveBeenCalledWith('http://nowhere.test')
  jest.restoreAllMocks()
  expect(ventuno.request).toBe(real)
})
`

const JEST_MOCK = `
jest.mock('ventuno', () => ({
  ...jest.requireActual('ventuno'),
  request: jest.fn(async () => ({ statusCode: 298 })),
}))
const { Client, request } = require('ventuno')
test('a module in place of it', async () => {
  expect(await require('./program.cjs').status('http://nowhere.test')).toBe(298)
  expect(request).toHaveBeenCalledTimes(1)
  expect(new Client('http://localhost').pipelining).toBe(1)
})
`

const JEST_AUTOMOCK = `
jest.mock('ventuno')
const { Agent, request, setGlobalDispatcher } = require('ventuno')
test('one that is made from it', async () => {
  request.mockResolvedValue({ statusCode: 297 })
  expect(await require('./program.cjs').status('http://nowhere.test')).toBe(297)
  setGlobalDispatcher(new Agent())
  expect(Agent).toHaveBeenCalledTimes(1)
})
`

const TS_JEST = `
import * as http from 'node:http'
import * as http2 from 'node:http2'
import * as ventuno from 'ventuno'
import byDefault, { type Dispatcher, MockedHere } from './typed'
declare const jest: any, test: any, expect: any
const program = require('./program.cjs')
${TESTS.replace('async (use)', 'async (use: any)')
  .replaceAll('(request, response)', '(request: any, response: any)')
  .replaceAll('server.address().port', '(server.address() as any).port')
  .replaceAll('(server) =>', '(server: any) =>')
  .replace('new Promise((resolve)', 'new Promise((resolve: any)')
  .replaceAll('(error) =>', '(error: unknown) =>')}
test('an export is spied on through import *', async () => {
  const data = { statusCode: 299 } as Dispatcher.ResponseData
  jest.spyOn(ventuno, 'request').mockResolvedValue(data)
  expect(await program.status('http://nowhere.test')).toBe(299)
  expect(await MockedHere()).toBe(299)
  jest.restoreAllMocks()
  expect(byDefault).toBe(ventuno)
})
`

const TS_MODULE = `
import ventuno, { type Dispatcher, request } from 'ventuno'
export { type Dispatcher }
export async function MockedHere(): Promise<number> {
  return (await request('http://nowhere.test')).statusCode
}
export default ventuno
`

const VITEST = `
import http from 'node:http'
import http2 from 'node:http2'
import * as ventuno from 'ventuno'
import program from './program.cjs'
${TESTS}
test('imported, it is a module', async () => {
  expect(ventuno.default.request).toBe(ventuno.request)
  expect(Object.prototype.toString.call(ventuno)).toBe('[object Module]')
})
`

const VITEST_MOCK = `
import { Client, request } from 'ventuno'
vi.mock('ventuno', async (original) => ({ ...(await original()), request: vi.fn(async () => ({ statusCode: 298 })) }))
test('a module in place of it', async () => {
  expect((await request('http://nowhere.test')).statusCode).toBe(298)
  expect(new Client('http://localhost').pipelining).toBe(1)
})
`

/** The tests that the guide shows: one for Vitest, one for Jest. */
const [VITEST_RECIPE, JEST_RECIPE] = ['mjs', 'cjs'].map((language) => {
  const guide = readFileSync(join(root, 'docs', 'guides', 'ecosystem.md'), 'utf8')
  const section = guide.slice(guide.indexOf('## Jest and Vitest'))
  return new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(section)[1]
})

describe('test runners', () => {
  const { app } = usePackage({ after })
  writeFileSync(join(app, 'program.cjs'), PROGRAM)

  const jest = (name, files, settings = {}) => {
    for (const [file, text] of Object.entries(files)) writeFileSync(join(app, file), text)
    const config = {
      rootDir: app,
      cacheDirectory: join(app, `.cache-${name}`),
      testMatch: Object.keys(files).map((file) => `<rootDir>/${file}`),
      transform: {},
      watchman: false,
      ...settings,
    }
    const words = ['--ci', '--runInBand', '--config', JSON.stringify(config)]
    return outcome([join(tools, name, 'bin', 'jest.js'), ...words])
  }

  /** Its whole output; it must have succeeded. */
  const outcome = (words) => {
    const quoted = [process.execPath, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    return run('sh', ['-c', `${quoted.join(' ')} 2>&1`], {
      cwd: app,
      env: { ...process.env, CI: '1', NO_COLOR: '1' },
    })
  }

  for (const name of ['jest29', 'jest']) {
    test(`${name === 'jest' ? 'Jest 30' : 'Jest 29'}: requests, spies and mocks`, () => {
      const output = jest(name, {
        'plain.test.js': JEST,
        'mock.test.js': JEST_MOCK,
        'automock.test.js': JEST_AUTOMOCK,
        'recipe.test.js': JEST_RECIPE,
      })
      assert.match(output, /Tests: +6 passed, 6 total/)
    })
  }

  test('ts-jest: import by name, by default and as a whole', () => {
    writeFileSync(join(app, 'typed.ts'), TS_MODULE)
    const tsconfig = {
      target: 'es2023',
      module: 'commonjs',
      esModuleInterop: true,
      strict: true,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
    }
    const transform = { '\\.ts$': [join(tools, 'ts-jest'), { tsconfig }] }
    const output = jest('jest', { 'typed.test.ts': TS_JEST }, { transform })
    assert.match(output, /Tests: +3 passed, 3 total/)
  })

  test('Vitest: requests, and a module in its place', () => {
    writeFileSync(join(app, 'plain.vitest.mjs'), VITEST)
    writeFileSync(join(app, 'mock.vitest.mjs'), VITEST_MOCK)
    // The names are global here: Vitest is not installed beside the package.
    writeFileSync(join(app, 'recipe.vitest.mjs'), VITEST_RECIPE.replace(/^import .* from 'vitest'$/m, ''))
    writeFileSync(
      join(app, 'vitest.config.mjs'),
      `export default { test: { globals: true, include: ['*.vitest.mjs'], maxWorkers: 1 }, cacheDir: '.cache-vitest' }`,
    )
    const output = outcome([join(tools, 'vitest', 'vitest.mjs'), 'run', '--root', app])
    assert.match(output, /Tests +5 passed \(5\)/)
  })

  test('node:test and sinon: an export is replaced, and given back', () => {
    const output = runScript(
      app,
      'replace.cjs',
      `const { mock } = require('node:test')
      const sinon = require(${JSON.stringify(join(tools, 'sinon'))})
      const library = require('ventuno')
      const { status } = require('./program.cjs')
      const real = library.request
      const fake = (statusCode) => async () => ({ statusCode })
      const main = async () => {
        mock.method(library, 'request', fake(299))
        console.log(await status('http://nowhere.test'))
        mock.restoreAll()
        const stub = sinon.stub(library, 'request').resolves({ statusCode: 298 })
        console.log(await status('http://nowhere.test'), stub.callCount)
        stub.restore()
        console.log(library.request === real)
      }
      main()`,
    )
    assert.deepEqual(output.split('\n'), ['299', '298 1', 'true'])
  })
})
