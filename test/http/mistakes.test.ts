/** Mistakes in the use of `http` are errors of the compiler, and each can be read at a glance. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { root } from '../docs/pages.ts'

/** Each with what the compiler says about it. */
const MISTAKES: readonly (readonly [code: string, message: RegExp])[] = [
  [`http.extend({ baseURL: 'https://host/' })`, /'baseURL' does not exist in type 'HttpOptions'/],
  [`http.extend({ timeout: 5000 })`, /'number'/],
  [`http.extend({ timeout: { request: 5000 } })`, /'request' does not exist in type 'HttpTimeouts'/],
  [`http.extend({ retry: 'yes' })`, /Type 'string' is not assignable/],
  [`http.extend({ retry: { limit: 2 } })`, /'limit' does not exist in type 'RetryOptions'/],
  [`http.extend({ headers: { 'x-a': null } })`, /Type 'null' is not assignable to type 'HttpHeaderValue'/],
  [`http.extend({ hooks: { beforeRequests: () => {} } })`, /'beforeRequests'/],
  [`http.extend({ auth: 'Bearer x' })`, /Type 'string' is not assignable to type 'false \| AuthOptions/],
  [`http.extend({ dispatcher: 'http://proxy' })`, /Type 'string' is not assignable to type 'Dispatching/],
  [`http.get('users', { json: { a: 1 } })`, /'json' does not exist in type 'HttpCallOptions'/],
  [`http.get('users', { params: { a: 1 } })`, /'params' does not exist in type 'HttpCallOptions'/],
  [`http.get('users', { query: { a: { b: 1 } } })`, /'b' does not exist in type 'readonly QueryValue\[\]'/],
  [`http.post('users', { data: {} })`, /'data' does not exist in type 'HttpBodyOptions'/],
  [
    `http.post('users', { json: 10n })`,
    /Type 'bigint' is not assignable to type '(?:string \| .*|JsonInput.*)'/,
  ],
  [`http.get(5)`, /Argument of type 'number' is not assignable to parameter of type 'string \| URL'/],
  [
    `const n: number = await http.get('users').json<string>()`,
    /Type 'string' is not assignable to type 'number'/,
  ],
  [`http.get('users').json().length`, /Property 'length' does not exist on type 'Promise<unknown>'/],
  [`(await http.get('users')).data`, /Property 'data' does not exist on type 'HttpResponse'/],
  [`http('users')`, /This expression is not callable/],
  [`http.get('users', { signal: new AbortController() })`, /'AbortController'/],
  [`for (const page of http.paginate('users')) void page`, /Symbol\.iterator/],
]

/** Lines of a message; what can be read at a glance. */
const MOST_LINES = 2

describe('a mistake', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mistakes-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  let output = ''

  before(() => {
    for (const [index, [code]] of MISTAKES.entries()) {
      writeFileSync(join(folder, `m${index}.mts`), `import { http } from 'ventuno'\n${code}\n`)
    }
    const config = join(folder, 'tsconfig.json')
    const typeRoots = [join(root, 'node_modules/@types')]
    const paths = { ventuno: [join(root, 'src/index.ts')] }
    const compilerOptions = { typeRoots, paths, noUnusedLocals: false }
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.mts'] }),
    )
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
    const words = [join(compiler, '../bin/tsc'), '-p', config, '--pretty', 'false']
    output = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' }).stdout
  })

  for (const [index, [code, message]] of MISTAKES.entries()) {
    test(`is seen: ${code}`, () => {
      const found = output.split(/\n(?=\S)/).filter((entry) => entry.startsWith(`m${index}.mts`))
      assert.equal(found.length, 1, found.join('\n') || output.slice(0, 500))
      assert.match(found[0]!, message)
      const lines = found[0]!.trimEnd().split('\n')
      assert.ok(lines.length <= MOST_LINES, found[0])
    })
  }
})
