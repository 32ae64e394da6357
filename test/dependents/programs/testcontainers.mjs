import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Client, fetch } from '#library'
import { failure, sendEvents, sendJson, text } from '../support.mjs'

/** A Docker daemon on a Unix socket that knows one running container; enough for the strategies that wait for it. */
async function daemon(t) {
  const folder = mkdtempSync(join(tmpdir(), 'docker-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 's')
  await t.serveUnix(path, (request, response) => {
    const url = request.url.replace(/^\/v[\d.]+/, '')
    if (url.startsWith('/info')) {
      sendJson(response, {
        OperatingSystem: 'Linux',
        ServerVersion: '27',
        Architecture: 'x86_64',
        NCPU: 1,
        MemTotal: 1,
      })
    } else if (url.startsWith('/containers/c/json')) {
      sendJson(response, {
        Id: 'c',
        State: { Status: 'running', Running: true },
        NetworkSettings: { Ports: {} },
      })
    } else if (url.startsWith('/containers/c/logs')) {
      sendEvents(response, ['starting\n', 'ready\n'])
    } else if (url.startsWith('/build')) {
      text(request).then(({ length }) => sendJson(response, { length }))
    } else {
      sendJson(response, {})
    }
  })
  process.env.DOCKER_HOST = `unix://${path}`
  return path
}

/** A client of the library for that socket. */
async function docker(t) {
  const client = new Client('http://localhost', { connect: { socketPath: await daemon(t) } })
  t.after(() => client.destroy())
  return client
}

async function wait(t, at, change = (strategy) => strategy) {
  await daemon(t)
  const { Wait, getContainerRuntimeClient } = await import('#testcontainers')
  const client = await getContainerRuntimeClient()
  const strategy = change(Wait.forHttp('/ready', 8080)).withStartupTimeout(3_000).withReadTimeout(50)
  await strategy.waitUntilReady(client.container.getById('c'), { getBinding: () => Number(new URL(at).port) })
}

export default {
  package: 'testcontainers',
  about: '`Wait.forHttp`, with a Docker daemon of ours on a Unix socket',
  checks: {
    'waits for a status': async (t) => {
      let calls = 0
      const at = await t.serve((_, response) => response.writeHead(++calls < 3 ? 503 : 200).end())
      await wait(t, at, (strategy) => strategy.forStatusCode(200))
      assert.equal(calls, 3)
    },
    'waits until a server listens': async (t) => {
      const at = await t.nowhere()
      const waiting = wait(t, at)
      const { createServer } = await import('node:http')
      const server = createServer((_, response) => response.end())
      await new Promise((resolve) => setTimeout(resolve, 200))
      server.listen(Number(new URL(at).port), '127.0.0.1')
      t.after(() => server.close())
      await waiting
    },
    'asks with headers and credentials': async (t) => {
      let seen
      const at = await t.serve((request, response) => {
        seen = [request.method, request.headers['x-a'], request.headers.authorization]
        response.end()
      })
      await wait(t, at, (strategy) =>
        strategy.withMethod('POST').withHeaders({ 'x-a': 'b' }).withBasicCredentials('u', 'p'),
      )
      assert.deepEqual(seen, ['POST', 'b', `Basic ${Buffer.from('u:p').toString('base64')}`])
    },
    'looks at the body': async (t) => {
      let calls = 0
      const at = await t.serve((_, response) => response.end(++calls < 2 ? 'starting' : 'ready'))
      await wait(t, at, (strategy) => strategy.forResponsePredicate((body) => body === 'ready'))
    },
    'accepts an untrusted certificate if told to': async (t) => {
      const at = await t.serveTls((_, response) => response.end())
      await wait(t, at, (strategy) => strategy.usingTls().allowInsecure())
    },
    'asks the daemon on the Unix socket with a Client': async (t) => {
      const client = await docker(t)
      const { statusCode, body } = await client.request({ path: '/v1.47/containers/c/json', method: 'GET' })
      assert.deepEqual([statusCode, (await body.json()).State.Status], [200, 'running'])
    },
    'asks the daemon on the Unix socket with fetch()': async (t) => {
      const dispatcher = await docker(t)
      const response = await fetch('http://localhost/v1.47/info', { dispatcher })
      assert.equal((await response.json()).ServerVersion, '27')
    },
    'follows logs from the Unix socket': async (t) => {
      const client = await docker(t)
      const path = '/containers/c/logs?follow=1&stdout=1'
      const { body } = await client.request({ path, method: 'GET' })
      assert.equal(await body.text(), 'starting\nready\n')
    },
    'sends a stream to the Unix socket': async (t) => {
      const client = await docker(t)
      const context = Readable.from([Buffer.alloc(200_000), Buffer.alloc(100_000)])
      const { body } = await client.request({ path: '/build', method: 'POST', body: context })
      assert.deepEqual(await body.json(), { length: 300_000 })
    },
    'gives up': async (t) => {
      const at = await t.serve((request) => request.resume())
      const error = await failure(wait(t, at, (strategy) => strategy))
      assert.match(error.message, /not accessible after/)
    },
  },
}
