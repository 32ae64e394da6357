/** Origins that want credentials. Each note is one request. */
import { createHash } from 'node:crypto'
import type http from 'node:http'
import { readParameters } from '../../../src/interceptor/auth/challenges.ts'

export interface Note {
  readonly authorization: string | undefined
  readonly body: string
}

/** Checks Digest as its own program would: with the texts of the fields alone. */
export class DigestOrigin {
  readonly notes: Note[] = []
  readonly used = new Set<string>()
  nonce = 'first'
  algorithm = 'SHA-256'
  /** In 200 responses. */
  nextNonce: string | null = null
  password = 'Circle of Life'
  /** How many right answers are called stale. */
  stale = 0

  readonly listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const { authorization } = request.headers
      this.notes.push({ authorization, body })
      const verdict = authorization === undefined ? 'none' : this.#verdict(authorization, request)
      if (verdict === 'right') {
        if (this.nextNonce !== null) {
          this.nonce = this.nextNonce
          response.setHeader('authentication-info', `nextnonce="${this.nextNonce}", qop=auth`)
        }
        response.end('welcome')
        return
      }
      const stale = verdict === 'stale' ? ', stale=TRUE' : ''
      const digest = `realm="t\u00e9st \\"q\\"", qop="auth", nonce="${this.nonce}", opaque="o"${stale}`
      response.setHeader('www-authenticate', [
        `Basic realm="x", Digest ${digest}, algorithm=MD5`,
        `Digest ${digest}, algorithm=${this.algorithm}`,
      ])
      response.writeHead(401).end('who are you?')
    })
  }

  #verdict(authorization: string, { method, url }: http.IncomingMessage): 'right' | 'wrong' | 'stale' {
    const given = readParameters(authorization.replace('Digest ', ''))!
    const name = this.algorithm.toLowerCase().replace('sha-', 'sha')
    const hash = (text: string): string => createHash(name).update(text, 'latin1').digest('hex')
    const [nonce, nc, cnonce] = ['nonce', 'nc', 'cnonce'].map((field) => given.get(field)!)
    const key = hash(`Mufasa:t\u00e9st "q":${this.password}`)
    const expected = hash(`${key}:${nonce}:${nc}:${cnonce}:auth:${hash(`${method}:${url}`)}`)
    if (given.get('response') !== expected || given.get('uri') !== url) return 'wrong'
    if (given.get('algorithm') !== this.algorithm || given.get('opaque') !== 'o') return 'wrong'
    if (nonce !== this.nonce || this.used.has(`${nonce} ${nc}`)) return 'stale'
    this.used.add(`${nonce} ${nc}`)
    if (this.stale === 0) return 'right'
    this.stale--
    this.nonce += '+'
    return 'stale'
  }
}
