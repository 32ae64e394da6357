/** Streams of well-known packages as request bodies, over each wire. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { after, test } from 'node:test'
import zlib from 'node:zlib'
import { TarArchive, ZipArchive } from 'archiver'
import busboy from 'busboy'
import CombinedStream from 'combined-stream'
import duplexify from 'duplexify'
import FormData from 'form-data'
import Pumpify from 'pumpify'
import readable4 from 'readable-stream'
import readable2 from 'readable-stream-2'
import readable3 from 'readable-stream-3'
import * as streamx from 'streamx'
import tar from 'tar-stream'
import * as through2Now from 'through2'
import through2 from 'through2-4'
import { overEachWire, startOrigin } from '../support/wire.ts'

const CONTENT = Buffer.alloc(400_000)
for (let at = 0; at < CONTENT.length; at++) CONTENT[at] = (at * 31 + (at >> 9)) & 0xff
const PIECES = []
for (let at = 0; at < CONTENT.length; at += 9_000) PIECES.push(CONTENT.subarray(at, at + 9_000))

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ventuno-streams-'))
const file = path.join(folder, 'content.bin')
fs.writeFileSync(file, CONTENT)
const warnings = []
const onWarning = (warning) => warnings.push(warning)
process.on('warning', onWarning)
after(() => {
  process.off('warning', onWarning)
  fs.rmSync(folder, { recursive: true })
  assert.deepEqual(warnings, [])
})

function form() {
  const made = new FormData()
  made.append('text', 'grün')
  made.append('bytes', Buffer.from([0, 255]), { filename: 'bytes.bin' })
  made.append('file', fs.createReadStream(file))
  made.append('late', Readable.from(PIECES, { objectMode: false }), { filename: 'late.bin' })
  return made
}

/** The content of a form at the server: the size of each file, the text of each field. */
async function partsOf(bytes, headers) {
  const parts = {}
  const parser = busboy({ headers })
  parser.on('field', (name, value) => {
    parts[name] = value
  })
  parser.on('file', (name, stream) => {
    stream.on('data', (chunk) => {
      parts[name] = (parts[name] ?? 0) + chunk.length
    })
  })
  parser.end(bytes)
  await once(parser, 'close')
  return parts
}

const FORM_PARTS = { text: 'grün', bytes: 2, file: CONTENT.length, late: CONTENT.length }

/** The stream of a file within a received form. */
async function fileOfForm() {
  const source = form()
  const parser = busboy({ headers: source.getHeaders() })
  source.pipe(parser)
  return new Promise((resolve) => {
    parser.on('file', (name, stream) => {
      if (name === 'file') resolve(stream)
      else stream.resume()
    })
  })
}

/** Another server's response, which becomes part of a form. */
async function formWithResponse(t) {
  const server = http.createServer((_request, response) => {
    Readable.from(PIECES).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const [response] = await once(http.get({ port: server.address().port }), 'response')
  const made = new FormData()
  made.append('remote', response, { filename: 'remote.bin' })
  return made
}

function zip(Archive) {
  const archive = new Archive()
  archive.append(CONTENT, { name: 'content.bin' })
  archive.file(file, { name: 'file.bin' })
  archive.finalize().catch(() => {})
  return archive
}

async function tarEntries(bytes) {
  const extract = tar.extract()
  const sizes = {}
  extract.on('entry', (header, stream, next) => {
    sizes[header.name] = header.size
    stream.resume()
    stream.on('end', next)
  })
  extract.end(bytes)
  await once(extract, 'close')
  return sizes
}

function pack() {
  const made = tar.pack()
  made.entry({ name: 'content.bin' }, CONTENT, () => made.finalize())
  return made
}

function combined() {
  const made = CombinedStream.create()
  made.append(PIECES[0])
  made.append(fs.createReadStream(file))
  made.append(new PassThrough().end('end'))
  return made
}

async function whole(bytes) {
  assert.equal(bytes.equals(CONTENT), true)
}

/** The name, how to create it, its headers, and the check of the received body. */
const KINDS = [
  ['form-data', form, async (bytes, headers) => assert.deepEqual(await partsOf(bytes, headers), FORM_PARTS)],
  [
    'form-data of texts and buffers',
    () => {
      const made = new FormData()
      made.append('a', '1')
      made.append('b', Buffer.from('22'), 'b.bin')
      return made
    },
    async (bytes, headers) => assert.deepEqual(await partsOf(bytes, headers), { a: '1', b: 2 }),
  ],
  [
    'form-data with the response of another server',
    formWithResponse,
    async (bytes, headers) => assert.deepEqual(await partsOf(bytes, headers), { remote: CONTENT.length }),
  ],
  [
    'form-data through a PassThrough',
    () => {
      const made = form()
      return Object.assign(made.pipe(new PassThrough()), { getHeaders: () => made.getHeaders() })
    },
    async (bytes, headers) => assert.deepEqual(await partsOf(bytes, headers), FORM_PARTS),
  ],
  ['a file that busboy found', fileOfForm, whole],
  [
    'a zip of archiver',
    () => zip(ZipArchive),
    async (bytes) => {
      assert.equal(bytes.subarray(0, 2).toString(), 'PK')
      assert.equal(bytes.subarray(-22, -18).toString('latin1'), 'PK\x05\x06')
    },
  ],
  [
    'a tar of archiver',
    () => zip(TarArchive),
    async (bytes) =>
      assert.deepEqual(await tarEntries(bytes), {
        'content.bin': CONTENT.length,
        'file.bin': CONTENT.length,
      }),
  ],
  [
    'tar-stream',
    pack,
    async (bytes) => assert.deepEqual(await tarEntries(bytes), { 'content.bin': CONTENT.length }),
  ],
  ['through2', () => Readable.from(PIECES).pipe(through2()), whole],
  [
    'through2, version 5',
    () => Readable.from(PIECES).pipe((through2Now.default ?? through2Now.through2)()),
    whole,
  ],
  [
    'through2 to gzip',
    () => Readable.from(PIECES).pipe(through2()).pipe(zlib.createGzip()),
    async (bytes) => whole(zlib.gunzipSync(bytes)),
  ],
  ['pumpify', () => new Pumpify(Readable.from(PIECES), through2(), new PassThrough()), whole],
  ['duplexify', () => duplexify(null, Readable.from(PIECES, { objectMode: false })), whole],
  [
    'duplexify whose side comes late',
    () => {
      const made = duplexify()
      setImmediate(() => made.setReadable(fs.createReadStream(file)))
      return made
    },
    whole,
  ],
  [
    'combined-stream',
    combined,
    async (bytes) =>
      assert.equal(bytes.equals(Buffer.concat([PIECES[0], CONTENT, Buffer.from('end')])), true),
  ],
  ['readable-stream 2', () => Readable.from(PIECES).pipe(new readable2.PassThrough()), whole],
  ['readable-stream 3', () => Readable.from(PIECES).pipe(new readable3.PassThrough()), whole],
  ['readable-stream 4', () => Readable.from(PIECES).pipe(new readable4.PassThrough()), whole],
  ['readable-stream 3 in object mode', () => readable3.Readable.from(PIECES), whole],
  ['streamx', () => streamx.Readable.from(PIECES), whole],
  ['a streamx transform', () => Readable.from(PIECES).pipe(new streamx.Transform()), whole],
]

const ENDED = [
  ['readable-stream 2', () => new readable2.PassThrough({ objectMode: true })],
  ['readable-stream 3', () => new readable3.PassThrough({ objectMode: true })],
  ['readable-stream 4', () => new readable4.PassThrough({ objectMode: true })],
]

function headersOf(body) {
  return typeof body.getHeaders === 'function' ? body.getHeaders() : {}
}

overEachWire('streams of packages as bodies', (wire) => {
  for (const [name, make, examine] of KINDS) {
    test(`${name} arrives`, async (t) => {
      const received = []
      const origin = await startOrigin(t, wire, async (request, response) => {
        const chunks = []
        for await (const chunk of request) chunks.push(chunk)
        received.push([Buffer.concat(chunks), request.headers])
        response.end('done')
      })
      const client = origin.client()
      const body = await make(t)
      const response = await client.request({ path: '/', method: 'POST', body, headers: headersOf(body) })
      assert.equal(await response.body.text(), 'done')
      assert.equal(received.length, 1)
      await examine(...received[0])
      await client.close()
    })

    // Its inner stream has no listener for the error that it is destroyed with, which ends the process.
    if (name === 'a tar of archiver') continue
    test(`${name} is let go when its request is given up`, async (t) => {
      const abort = new AbortController()
      const origin = await startOrigin(t, wire, (request) => {
        request.on('error', () => {})
        request.once('data', () => abort.abort(new Error('given up')))
      })
      const client = origin.client()
      const body = await make(t)
      let closed = body.destroyed === true
      body.on('close', () => {
        closed = true
      })
      await assert.rejects(
        client.request({ path: '/', method: 'POST', body, headers: headersOf(body), signal: abort.signal }),
        /given up/,
      )
      while (!closed && body.destroyed !== true) await new Promise((resolve) => setImmediate(resolve))
      await client.close()
    })
  }

  for (const [name, make] of ENDED) {
    test(`${name} that has ended before is empty, one that was destroyed fails its request`, async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        request.on('error', () => {})
        request.pipe(response)
      })
      const client = origin.client()
      const ended = make()
      ended.end()
      ended.resume()
      await once(ended, 'end')
      const response = await client.request({ path: '/', method: 'POST', body: ended })
      assert.equal(await response.body.text(), '')
      const destroyed = make()
      destroyed.on('error', () => {})
      destroyed.destroy()
      await assert.rejects(client.request({ path: '/', method: 'POST', body: destroyed }), {
        code: 'UND_ERR_ABORTED',
      })
    })
  }

  test('form-data with a file that is missing fails its request', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      request.on('error', () => {})
      request.on('end', () => response.end('next')).resume()
    })
    const client = origin.client()
    const made = new FormData()
    made.append('a', '1')
    made.append('file', fs.createReadStream(path.join(folder, 'missing')))
    await assert.rejects(
      client.request({ path: '/', method: 'POST', body: made, headers: made.getHeaders() }),
      {
        code: 'ENOENT',
      },
    )
    const response = await client.request({ path: '/', method: 'POST', body: 'next' })
    assert.equal(await response.body.text(), 'next')
  })
})
