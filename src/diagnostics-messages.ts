/** The types of the messages on the diagnostics channels, for the tools that subscribe to them. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionEnd } from './dispatcher/connection-snapshot.ts'
import type { Connector as AnyConnector } from './net/connector.ts'
import type { HttpMethod } from './request/dispatch-options.ts'

/** The messages of the diagnostics channels, under the names that programs written for undici use. */
export declare namespace DiagnosticsChannel {
  /** The same object in all messages of one request. */
  interface Request {
    /** Its destination. */
    origin?: string | URL
    /** Whether it has ended. */
    completed: boolean
    /** As the caller gave it. */
    method?: HttpMethod
    /** With the query. */
    path: string
    /** A flat list of names and values. Changes made before the request is written are sent. */
    // biome-ignore lint/suspicious/noExplicitAny: text in some versions of undici, so tools look at what it is
    headers: any
    /** Validates and adds a header. */
    addHeader(name: string, value: string): unknown
  }
  /** The head of a response, interim ones included. */
  interface Response {
    /** 100 to 599. */
    statusCode: number
    /** The reason phrase. */
    statusText: string
    /** A flat list of names and values. */
    headers: Buffer[]
  }
  /** The destination of a connection. */
  interface ConnectParams {
    /** With the port. */
    host: string
    /** Without the port. */
    hostname: string
    /** `http:` or `https:`. */
    protocol: string
    /** Empty for the default port. */
    port: string
    /** The TLS server name. */
    servername: string | null
    /** `h1` or `h2`, once it is known. */
    version?: string
  }
  /** Opens the connection. */
  type Connector = AnyConnector
  /** Of `undici:request:create`. */
  interface RequestCreateMessage {
    request: Request
  }
  /** Of `undici:request:bodySent`. */
  interface RequestBodySentMessage extends RequestCreateMessage {}
  /** Of `undici:request:bodyChunkSent`. */
  interface RequestBodyChunkSentMessage extends RequestCreateMessage {
    chunk: Uint8Array | string
  }
  /** Of `undici:request:bodyChunkReceived`. */
  interface RequestBodyChunkReceivedMessage extends RequestCreateMessage {
    chunk: Buffer
  }
  /** Of `undici:request:headers`. */
  interface RequestHeadersMessage extends RequestCreateMessage {
    response: Response
  }
  /** Of `undici:request:trailers`. */
  interface RequestTrailersMessage extends RequestCreateMessage {
    trailers: Buffer[]
  }
  /** Of `undici:request:error`. */
  interface RequestErrorMessage extends RequestCreateMessage {
    error: Error
  }
  /** Of `ventuno:request:retry`: a request has failed, and is sent again. */
  interface RequestRetryMessage {
    origin?: string | URL | undefined
    method: HttpMethod
    path: string
    /** What it has failed with. */
    error: Error
    /** How often it has failed. */
    counter: number
    /** Milliseconds until it is sent again; null if a policy of the caller decided. */
    delay: number | null
  }
  /** Of `undici:request:pending-requests`: a request that others may share has begun or ended. */
  interface PendingRequestsMessage {
    /** How many there are now. */
    size: number
    /** What the requests that share it have in common. */
    key: string
    type: 'added' | 'removed'
  }
  /** Of `undici:client:sendHeaders`. */
  interface ClientSendHeadersMessage extends RequestCreateMessage {
    /** The head as text. */
    headers: string
    /**
     * The socket it is written to: a `net.Socket`, unless a caller's `connect` function returned another
     * Duplex.
     */
    socket: Socket
  }
  /** Of `undici:client:beforeConnect`. */
  interface ClientBeforeConnectMessage {
    connectParams: ConnectParams
    connector: Connector
  }
  /** Of `undici:client:connected`. */
  interface ClientConnectedMessage extends ClientBeforeConnectMessage {
    socket: Socket
  }
  /** Of `ventuno:client:disconnected`: a connection that was open has ended, or its socket was handed over. */
  interface ClientDisconnectedMessage extends ConnectionEnd {}
  /** Of `undici:proxy:connected`. */
  interface ProxyConnectedMessage {
    /** The tunnel. */
    socket: Duplex
    connectParams: {
      /** The proxy. */
      origin: string
      /** Its port; empty for the default one. */
      port: string
      /** Host and port of the target. */
      path: string
      /** Sent with CONNECT; the value of `proxy-authorization` is left out. */
      headers: Record<string, unknown>
      /** The TLS server name of the proxy. */
      servername: string
    }
  }
  /** Of `undici:client:connectError`. */
  interface ClientConnectErrorMessage extends ClientBeforeConnectMessage {
    error: Error
  }
}
