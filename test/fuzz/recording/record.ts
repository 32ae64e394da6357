/** Records the corpora again; `scripts/fuzz.ts --record` calls it. */
import { type CorpusKind, type Recording, saveCorpus } from '../corpus.ts'
import { recordCookies } from './cookie-lines.ts'
import { recordHttp1 } from './http1-sessions.ts'
import { recordHpack, recordHttp2 } from './http2-sessions.ts'
import { recordWebSocket } from './websocket-sessions.ts'

const RECORDERS: Readonly<Record<CorpusKind, () => Promise<Recording[]>>> = {
  http1: recordHttp1,
  http2: recordHttp2,
  hpack: recordHpack,
  websocket: recordWebSocket,
  cookies: recordCookies,
}

export async function recordAll(tell: (line: string) => void): Promise<void> {
  for (const [kind, record] of Object.entries(RECORDERS) as [CorpusKind, () => Promise<Recording[]>][]) {
    const recordings = await record()
    tell(`${kind}: ${recordings.length} recordings, ${saveCorpus(kind, recordings)} bytes on disk`)
  }
}
