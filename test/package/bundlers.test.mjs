// The package goes through bundlers: what comes out works, and has only what was asked for.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { run, usePackage } from './packed.mjs'

/** Bytes. The cookie helpers have 8 KB before anything is left out; the whole library has 300. */
const MAX_COOKIE_BUNDLE = 8_000

const REQUEST = `
import http from 'node:http'
import { once } from 'node:events'
import { Client, request } from 'ventuno'
const server = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = 'http://127.0.0.1:' + server.address().port
const client = new Client(origin)
const { body } = await client.request({ path: '/', method: 'GET' })
const other = await request(origin, { dispatcher: client })
console.log(await body.text(), await other.body.text(), client.constructor.name)
await client.close()
server.close()
`

const COOKIE = `
import { parseCookie } from 'ventuno'
console.log(parseCookie('a=b; Secure').name)
`

const bundlers = {
  esbuild: async (from, to) => {
    await build({
      entryPoints: [from],
      outfile: to,
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    })
  },
  rollup: async (from, to) => {
    const fail = (warning) => assert.fail(warning.message)
    const bundle = await rollup({ input: from, plugins: [nodeResolve()], external: /^node:/, onwarn: fail })
    await bundle.write({ file: to, format: 'es' })
    await bundle.close()
  },
}

describe('bundles', () => {
  const { app } = usePackage({ after })

  const bundleOf = async (name, text) => {
    const [from, to] = [join(app, `${name}-in.mjs`), join(app, `${name}-out.mjs`)]
    writeFileSync(from, text)
    await bundlers[name](from, to)
    return { code: readFileSync(to, 'utf8'), output: run(process.execPath, [to]).trim() }
  }

  for (const name of Object.keys(bundlers)) {
    test(`${name}: a client works`, async () => {
      const { output } = await bundleOf(name, REQUEST)
      assert.equal(output, 'hello hello Client')
    })

    test(`${name}: whoever wants cookies gets no client`, async () => {
      const { code, output } = await bundleOf(name, COOKIE)
      assert.equal(output, 'a')
      assert.ok(code.length < MAX_COOKIE_BUNDLE, `${code.length} bytes`)
      assert.ok(!/node:|UndiciError|Client/.test(code), code)
    })
  }
})
