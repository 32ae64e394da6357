import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Agent, ProxyAgent } from '#library'
import { ca, failure, text } from '../support.mjs'

/** The one in the guide. */
const guide = readFileSync(new URL('../../../docs/guides/ecosystem.md', import.meta.url), 'utf8')
const [source] = /^\/\*\* Each value of a query[\s\S]*?(?=^const client)/m.exec(guide)
const { requestHandler } = await import(
  `data:text/javascript,${encodeURIComponent(`${source}\nexport { requestHandler }`)}`
)

function client(t, endpoint, dispatcher = new Agent(), options = {}) {
  const api = new S3Client({
    region: 'eu-central-1',
    endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    requestHandler: requestHandler(dispatcher),
    maxAttempts: 1,
    ...options,
  })
  t.after(() => api.destroy())
  return api
}

/** Keeps objects by their path. */
function bucket() {
  const objects = new Map()
  return async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    if (request.method === 'PUT') {
      objects.set(pathname, await text(request))
      response.writeHead(200, { etag: '"1"' }).end()
    } else if (objects.has(pathname)) {
      response.writeHead(200, { 'content-type': 'text/plain', etag: '"1"' }).end(objects.get(pathname))
    } else {
      response.writeHead(404, { 'content-type': 'application/xml' })
      response.end('<Error><Code>NoSuchKey</Code><Message>none</Message></Error>')
    }
  }
}

const get = (api, Key = 'k') => api.send(new GetObjectCommand({ Bucket: 'b', Key }))
const put = (api, Body, rest = {}) => api.send(new PutObjectCommand({ Bucket: 'b', Key: 'k', Body, ...rest }))

async function roundTrip(api) {
  assert.equal((await put(api, 'content')).ETag, '"1"')
  assert.equal(await (await get(api)).Body.transformToString(), 'content')
}

export default {
  package: '@aws-sdk/client-s3',
  about: '`requestHandler` on a dispatcher',
  own: true,
  checks: {
    'puts and gets an object': async (t) => roundTrip(client(t, await t.serve(bucket()))),
    'puts and gets an object over HTTP/2': async (t) => {
      const dispatcher = new Agent({ connect: { ca }, allowH2: true })
      await roundTrip(client(t, await t.serveH2(bucket()), dispatcher))
    },
    'puts and gets an object through a proxy': async (t) => {
      const proxy = await t.proxy()
      const dispatcher = new ProxyAgent({ uri: proxy.origin, requestTls: { ca } })
      await roundTrip(client(t, await t.serveTls(bucket()), dispatcher))
      assert.ok(proxy.asked.length > 0)
    },
    'uploads a stream of a known length': async (t) => {
      const api = client(t, await t.serve(bucket()))
      const body = Readable.from([Buffer.alloc(100_000, 'a'), Buffer.alloc(100_000, 'b')])
      await put(api, body, { ContentLength: 200_000 })
      assert.ok((await (await get(api)).Body.transformToString()).length >= 200_000)
    },
    'uploads so much that the SDK asks for 100 Continue': async (t) => {
      const api = client(t, await t.serve(bucket()))
      await put(api, Buffer.alloc(3_000_000, 'x'))
      assert.equal((await (await get(api)).Body.transformToByteArray()).length, 3_000_000)
    },
    'reads an object as a web stream': async (t) => {
      const api = client(t, await t.serve(bucket()))
      await put(api, 'x'.repeat(500_000))
      let size = 0
      for await (const chunk of (await get(api)).Body.transformToWebStream()) size += chunk.length
      assert.equal(size, 500_000)
    },
    'lists objects': async (t) => {
      const at = await t.serve((request, response) => {
        const { searchParams } = new URL(request.url, 'http://localhost')
        response.setHeader('content-type', 'application/xml')
        response.end(
          `<ListBucketResult><Contents><Key>${searchParams.get('prefix')}1</Key></Contents></ListBucketResult>`,
        )
      })
      const list = new ListObjectsV2Command({ Bucket: 'b', Prefix: 'a/ä ' })
      assert.equal((await client(t, at).send(list)).Contents[0].Key, 'a/ä 1')
    },
    'throws what the server says': async (t) => {
      const error = await failure(get(client(t, await t.serve(bucket())), 'none'))
      assert.deepEqual([error.name, error.$metadata.httpStatusCode], ['NoSuchKey', 404])
    },
    'repeats after 503': async (t) => {
      let calls = 0
      const at = await t.serve((_, response) => {
        if (++calls === 1) response.writeHead(503).end()
        else response.end('second')
      })
      const { Body } = await get(client(t, at, new Agent(), { maxAttempts: 2 }))
      assert.equal(await Body.transformToString(), 'second')
    },
    'is aborted': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      const command = new GetObjectCommand({ Bucket: 'b', Key: 'k' })
      const error = await failure(client(t, at).send(command, { abortSignal: aborter.signal }))
      assert.equal(error.name, 'AbortError')
    },
    'fails after a time limit': async (t) => {
      const at = await t.serve((request) => request.resume())
      const error = await failure(get(client(t, at, new Agent({ headersTimeout: 100 }))))
      assert.equal(error.code, 'UND_ERR_HEADERS_TIMEOUT')
    },
    'fails if an object is cut off': async (t) => {
      const at = await t.serve((_, response) => {
        response.writeHead(200, { 'content-length': 10 }).write('half', () => response.socket.destroy())
      })
      const { Body } = await get(client(t, at))
      await failure(Body.transformToString())
    },
  },
}
