import assert from 'node:assert/strict'
import { fromURL } from 'cheerio'
import { failure, text } from '../support.mjs'

const page = (title) => `<!doctype html><title>${title}</title><p class="a">one<p class="a">two`

export default {
  package: 'cheerio',
  about: '`fromURL`',
  checks: {
    'loads a page': async (t) => {
      const origin = await t.serve((_, response) => {
        response.setHeader('content-type', 'text/html').end(page('hello'))
      })
      const $ = await fromURL(`${origin}/a`)
      assert.equal($('title').text(), 'hello')
      assert.equal($('.a').length, 2)
    },
    'follows redirects, and resolves against the last one': async (t) => {
      const origin = await t.serve((request, response) => {
        if (request.url === '/old') response.writeHead(302, { location: '/new/' }).end()
        else response.setHeader('content-type', 'text/html').end('<a href="x">link</a>')
      })
      const $ = await fromURL(`${origin}/old`)
      assert.equal($('a').prop('href'), `${origin}/new/x`)
    },
    'decodes a charset of the header': async (t) => {
      const origin = await t.serve((_, response) => {
        response
          .setHeader('content-type', 'text/html; charset=iso-8859-1')
          .end(Buffer.from(page('café'), 'latin1'))
      })
      assert.equal((await fromURL(origin))('title').text(), 'café')
    },
    'decodes a charset of the document': async (t) => {
      const origin = await t.serve((_, response) => {
        const html = Buffer.from(`<meta charset="windows-1252">${page('naïve')}`, 'latin1')
        response.setHeader('content-type', 'text/html').end(html)
      })
      assert.equal((await fromURL(origin))('title').text(), 'naïve')
    },
    'reads XML as XML': async (t) => {
      const origin = await t.serve((_, response) => {
        response.setHeader('content-type', 'application/xml').end('<r><Item/><Item/></r>')
      })
      assert.equal((await fromURL(origin))('Item').length, 2)
    },
    'refuses what is not a page': async (t) => {
      const origin = await t.serve((_, response) => {
        response.setHeader('content-type', 'application/json').end('{}')
      })
      assert.match((await failure(fromURL(origin))).message, /content-type/i)
    },
    'reports a status that is an error': async (t) => {
      const origin = await t.serve((_, response) => response.writeHead(404).end('nothing'))
      const error = await failure(fromURL(origin))
      assert.equal(error.statusCode, 404)
    },
    'passes options of the request': async (t) => {
      const origin = await t.serve(async (request, response) => {
        response.setHeader('content-type', 'text/html')
        response.end(page(`${request.method} ${request.headers['x-a']} ${await text(request)}`))
      })
      const $ = await fromURL(origin, {
        requestOptions: { method: 'POST', headers: { 'x-a': 'b' }, body: 'c' },
      })
      assert.equal($('title').text(), 'POST b c')
    },
    'reads a large page': async (t) => {
      const origin = await t.serve((_, response) => {
        response.setHeader('content-type', 'text/html').end('<p>x</p>'.repeat(100_000))
      })
      assert.equal((await fromURL(origin))('p').length, 100_000)
    },
    'fails where nothing listens': async (t) => {
      assert.equal((await failure(fromURL(await t.nowhere()))).code, 'ECONNREFUSED')
    },
  },
}
