/**
 * Certificates of client, server and authority that change under load. Each side trusts the present authority and the one
 * before, as a rotation does; what belongs to the one before that is refused.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Agent, type AgentOptions } from '../../src/index.ts'
import { type Generation, generations } from '../support/certificates.ts'

export interface RotationResult {
  readonly requests: number
  readonly failures: readonly string[]
  /** Rotations so far. */
  readonly rotations: number
  readonly connections: number
  /** The certificates of clients that the server has seen, of rotation after rotation. */
  readonly seen: readonly string[]
}

export interface RotationOptions {
  readonly protocol: 'h1' | 'h2'
  readonly milliseconds: number
  readonly perSecond: number
  /** Milliseconds between rotations. */
  readonly every: number
  readonly agent?: AgentOptions
}

const at = (rotation: number): Generation => generations[rotation % generations.length]!

const trusted = (rotation: number): string[] => [at(rotation).ca, at(rotation + generations.length - 1).ca]

export async function rotate(options: RotationOptions): Promise<RotationResult> {
  let rotation = 0
  const material = (): { cert: string; key: string; ca: string[] } => ({
    cert: at(rotation).cert,
    key: at(rotation).key,
    ca: trusted(rotation),
  })
  const seen: string[] = []
  let connections = 0
  const mutual = { ...material(), requestCert: true, rejectUnauthorized: true }
  const listener = (request: { resume(): unknown }, response: { end(text: string): unknown }): void => {
    request.resume()
    response.end('ok')
  }
  const server =
    options.protocol === 'h1'
      ? https.createServer(mutual, listener as never)
      : http2.createSecureServer(mutual, listener as never)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('secureConnection', (socket) => {
    connections++
    const name = `${rotation}: ${socket.getPeerCertificate().subject?.CN}`
    if (!seen.includes(name)) seen.push(name)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`

  const agent = new Agent({
    ...options.agent,
    connect: { cert: () => material().cert, key: () => material().key, ca: () => material().ca },
  })
  const failures: string[] = []
  const running = new Set<Promise<void>>()
  let requests = 0
  const ask = async (): Promise<void> => {
    try {
      const { statusCode, body } = await agent.request({
        origin,
        path: '/',
        method: requests % 2 ? 'GET' : 'POST',
      })
      if ((await body.text()) !== 'ok' || statusCode !== 200) failures.push(`status ${statusCode}`)
    } catch (error) {
      failures.push(String(error))
    }
  }
  const turn = (): void => {
    rotation++
    server.setSecureContext(material())
    agent.retire()
  }
  const startedAt = performance.now()
  const rotating = setInterval(turn, options.every)
  for (let passed = 0; passed < options.milliseconds; passed = performance.now() - startedAt) {
    for (const due = (passed / 1000) * options.perSecond; requests < due; requests++) {
      const asked = ask()
      running.add(asked)
      void asked.then(() => running.delete(asked))
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  clearInterval(rotating)
  await Promise.all(running)
  await agent.close()
  server.close()
  for (const socket of sockets) socket.destroy()
  return { requests, failures, rotations: rotation, connections, seen }
}
