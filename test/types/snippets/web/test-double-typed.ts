// The whole of a response, written out.
import { Blob as NodeBlob } from 'node:buffer'
import { FormData, Headers, Response } from 'undici'

const whole: Omit<Response, 'clone'> = {
  ok: true,
  status: 200,
  statusText: 'OK',
  type: 'default',
  url: '',
  redirected: false,
  headers: new Headers(),
  body: null,
  bodyUsed: false,
  arrayBuffer: async () => new ArrayBuffer(0),
  blob: async () => new NodeBlob([]),
  bytes: async () => new Uint8Array(),
  formData: async () => new FormData(),
  json: async () => ({}),
  text: async () => '',
  textStream: () => new ReadableStream<string>(),
}
export const double: Response = { ...whole, clone: () => new Response() }
