// An interceptor that sends a request again if the error allows it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Client, DecoratorHandler } from 'ventuno'

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'QUERY'])

class RetryHandler extends DecoratorHandler {
  #attempt = 1
  #answered = false
  #dispatch
  #options

  constructor(handler, dispatch, options) {
    super(handler)
    this.#dispatch = dispatch
    this.#options = options
  }

  onResponseStart(controller, statusCode, headers, statusText) {
    this.#answered ||= statusCode >= 200
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  onResponseError(controller, error) {
    const harmless = error.retrySafety === 'idempotent-only' && IDEMPOTENT.has(this.#options.method)
    const again = error.retrySafety === 'safe' || harmless
    // Once the head was forwarded, the next handler cannot start over.
    if (!again || this.#answered || this.#attempt === 3) {
      super.onResponseError(controller, error)
      return
    }
    console.log(`attempt ${this.#attempt} failed: ${error.code}, ${error.retrySafety}`)
    setTimeout(() => this.#dispatch(this.#options, this), 10 * 2 ** this.#attempt++)
  }
}

const retry = (dispatch) => (options, handler) =>
  dispatch(options, new RetryHandler(handler, dispatch, options))

let asked = 0
const server = http.createServer((request, response) => {
  if (++asked % 3 === 0) response.end('at last')
  else request.socket.destroy()
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`).compose(retry)

const { body } = await client.request({ path: '/', method: 'GET' })
assert.equal(await body.text(), 'at last')
assert.equal(asked, 3)
console.log(`answered after ${asked} attempts`)

// The server may have processed it, and repeating it is not harmless.
await assert.rejects(client.request({ path: '/', method: 'POST', body: 'x' }), { code: 'UND_ERR_SOCKET' })
assert.equal(asked, 4)

await client.close()
server.close()
