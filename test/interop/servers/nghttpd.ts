/** nghttpd of nghttp2: HTTP/2 only, over TLS or in cleartext. It echoes uploads and sends a trailer with everything. */
import { AUTHORITY_FILE, CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { freePorts } from '../ports.ts'
import { findProgram } from '../server-process.ts'
import type { Stage } from '../stage.ts'

export const program: string | null = findProgram('nghttpd')

export const TRAILER_NAME = 'x-checksum'
export const TRAILER_VALUE = 'none'

export interface NghttpdOptions {
  readonly secure: boolean
  readonly folder: string
  /** Maximum number of concurrent streams. */
  readonly streams?: number
  /** Asks for a client certificate. It does not check who signed it. */
  readonly mutual?: boolean
}

/** Starts one and returns its origin. */
export async function startNghttpd(stage: Stage, options: NghttpdOptions): Promise<string> {
  const { port } = await freePorts(['port'])
  const { secure, folder, streams, mutual = false } = options
  await stage.start({
    file: program!,
    args: [
      ...['-a', '127.0.0.1'],
      ...['-d', folder],
      '--echo-upload',
      ...['--trailer', `${TRAILER_NAME}: ${TRAILER_VALUE}`],
      ...(streams === undefined ? [] : ['-m', String(streams)]),
      ...(mutual ? ['--verify-client'] : []),
      ...(secure ? [String(port), KEY_FILE, CERT_FILE] : ['--no-tls', String(port)]),
    ],
    ports: [port],
    env: mutual ? { SSL_CERT_FILE: AUTHORITY_FILE } : {},
  })
  return `${secure ? 'https' : 'http'}://127.0.0.1:${port}`
}
