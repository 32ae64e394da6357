/** How much of the bodies of a call was transferred, for those who want to know. */

import { isThenable } from '../base/loop/thenable.ts'
import type { HttpProgress } from './options.ts'

export type Progress = (progress: HttpProgress) => void

export interface Watchers {
  readonly onUpload: Progress | null
  readonly onDownload: Progress | null
  readonly uploadLength: number | null
}

export class CallProgress {
  readonly #watchers: Watchers
  readonly #fail: (error: unknown) => void
  #uploaded = 0
  #downloaded = 0

  private constructor(watchers: Watchers, fail: (error: unknown) => void) {
    this.#watchers = watchers
    this.#fail = fail
  }

  /** Null if nobody wants to know. */
  static of(watchers: Watchers, fail: (error: unknown) => void): CallProgress | null {
    const isWatched = watchers.onUpload !== null || watchers.onDownload !== null
    return isWatched ? new CallProgress(watchers, fail) : null
  }

  /** Another attempt sends the body from its start. */
  onAttempt(): void {
    this.#uploaded = 0
  }

  onSent(chunk: string | Uint8Array): void {
    const { onUpload, uploadLength } = this.#watchers
    if (onUpload === null) return
    this.#uploaded += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
    this.#report(onUpload, { transferred: this.#uploaded, total: uploadLength })
  }

  /** `total`: as the response has announced. */
  onReceived(length: number, total: number | null): void {
    const { onDownload } = this.#watchers
    if (onDownload === null) return
    this.#downloaded += length
    this.#report(onDownload, { transferred: this.#downloaded, total })
  }

  /** What an async function rejects with counts as thrown. */
  #report(tell: Progress, progress: HttpProgress): void {
    const answer: unknown = tell(progress)
    if (isThenable(answer)) answer.then(undefined, this.#fail)
  }
}
