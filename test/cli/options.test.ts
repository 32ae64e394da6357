import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HELP } from '../../src/cli/help.ts'
import { parseOptions, UsageError } from '../../src/cli/options.ts'
import { readPages } from '../docs/pages.ts'

const URL_ = 'http://localhost:1/'

test('everything at once', () => {
  const argv =
    '-X PUT -H A:1 --header=B:\u00a02:3 -d x --http1 -k --cacert a --cert b --key c --unix-socket s ' +
    '--timeout 1.5 -o o --har h -f -v https://u%40:p%zz@localhost:8443/a?b#c'
  const options = parseOptions(argv.split(' '))
  assert.equal(options.url.href, 'https://localhost:8443/a?b')
  assert.equal(options.authorization, `Basic ${Buffer.from('u@:p%zz').toString('base64')}`)
  assert.equal(options.method, 'PUT')
  assert.deepEqual(options.headers, [
    ['A', '1'],
    ['B', '2:3'],
  ])
  assert.deepEqual(
    [options.data[0]!.value, options.http1, options.insecure, options.cacert, options.cert, options.key],
    ['x', true, true, 'a', 'b', 'c'],
  )
  assert.deepEqual(
    [options['unix-socket'], options.timeout, options.outputs[0], options.har, options.fail, options.verbose],
    ['s', 1500, 'o', 'h', true, true],
  )
})

test('defaults', () => {
  const options = parseOptions(['localhost:8080/path'])
  assert.equal(options.url.href, 'http://localhost:8080/path')
  assert.deepEqual(
    [
      options.authorization,
      options.method,
      options.headers,
      options.timeout,
      options.repeat,
      options.concurrency,
    ],
    [null, undefined, [], null, null, 1],
  )
  assert.deepEqual([options.http1, options.http2, options.h2c, options.json], [false, false, false, false])
})

test('help and version need no URL, and mind nothing else', () => {
  assert.equal(parseOptions(['-h']).help, true)
  assert.equal(parseOptions(['--version', '--key', 'x']).version, true)
})

const WRONG: readonly (readonly [argv: string, message: RegExp])[] = [
  ['', /no URL/],
  [`--repeat 2 ${URL_} ${URL_}`, /more than one URL/],
  ['--nope http://h', /Unknown option '--nope'$/],
  ['--timeout', /argument missing$/],
  [`--timeout -1 ${URL_}`, /--timeout is a number/],
  [`--json=1 ${URL_}`, /does not take an argument$/],
  [`-m 1 --max-time 2 ${URL_}`, /--timeout is given twice/],
  [`--json --json ${URL_}`, /--json is given twice/],
  ['ftp://h/', /not a valid http or https URL/],
  ['http://user:secret@:99999/', /not a valid http or https URL: http:\/\/:99999\/$/],
  ['//me:secret@[/?token=secret', /not a valid http or https URL: /],
  [`-H secret ${URL_}`, /a header is written/],
  [`-H :secret ${URL_}`, /a header is written/],
  [`--retry 0 ${URL_}`, /--retry is a whole number from 1 to 100/],
  [`--retry x ${URL_}`, /--retry is/],
  [`--retry 3 --repeat 3 ${URL_}`, /--retry is not for --repeat and --duration/],
  [`--location --repeat 3 ${URL_}`, /--location is not for --repeat/],
  [`--compressed --repeat 3 ${URL_}`, /--compressed is not for --repeat/],
  [`--timeout 0 ${URL_}`, /--timeout is/],
  [`--timeout 1e3 ${URL_}`, /--timeout is/],
  [`--timeout 2147484 ${URL_}`, /--timeout is/],
  [`--repeat 0 ${URL_}`, /--repeat is a whole number from 1 to 1000000/],
  [`--repeat 1.5 ${URL_}`, /--repeat is/],
  [`--repeat 1000001 ${URL_}`, /--repeat is/],
  [`--repeat 5 --concurrency 1001 ${URL_}`, /--concurrency is/],
  [`--concurrency 2 ${URL_}`, /--concurrency needs --repeat or --duration/],
  [`--http1 --h2c ${URL_}`, /exclude each other/],
  [`--http2 ${URL_}`, /--h2c/],
  ['--h2c https://h/', /--http2/],
  [`--cacert f ${URL_}`, /for https/],
  [`--cert f ${URL_}`, /for https/],
  ['--key f https://h/', /--key needs --cert/],
  [`-d a --json-body b ${URL_}`, /--data, --json-body and --form exclude each other/],
  [`--repeat 2 --har f ${URL_}`, /not for --repeat/],
  [`--repeat 2 -o f ${URL_}`, /not for --repeat/],
  [`--json -o - ${URL_}`, /standard output/],
]

for (const [argv, message] of WRONG) {
  test(`refused: ${argv || 'nothing'}`, () => {
    assert.throws(
      () => parseOptions(argv.split(' ').filter(Boolean)),
      (error: Error) => {
        assert.ok(error instanceof UsageError)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /secret/)
        return true
      },
    )
  })
}

const optionsIn = (text: string): string[] => [...new Set(text.match(/--[a-z][\w.-]+\w/g))].sort()

test('the help fits eighty columns, names what the page names, and all of it exists', () => {
  for (const line of HELP.split('\n')) assert.ok(line.length <= 80, line)
  const page = readPages().find(({ path }) => path === 'docs/cli.md')!
  const rows = page.text.split('\n').filter((line) => line.startsWith('| `-'))
  const named = optionsIn(HELP)
  assert.ok(named.length > 50)
  assert.deepEqual(
    optionsIn(rows.map((row) => row.split('|')[1]).join()).filter((name) => !named.includes(name)),
    [],
  )
  for (const name of named) {
    assert.ok(page.text.includes(`\`${name}`), name)
    let message = ''
    try {
      parseOptions([name, 'x'])
    } catch (error) {
      message = (error as Error).message
    }
    assert.doesNotMatch(message, /Unknown option/, name)
  }
})
