/** Passes a response on, and stores it when it is complete. */
import { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { now } from '../../base/loop/clock.ts'
import { DecoratorHandler } from '../../handler/decorator-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { SnapshotResponse } from './snapshot.ts'

export class SnapshotHandler extends DecoratorHandler {
  readonly #store: (response: SnapshotResponse) => void
  readonly #startedAt = now()
  readonly #body = BodyBytes.none()
  #head = { statusCode: 0, headers: {} as SnapshotResponse['headers'] }

  constructor(handler: DispatchHandler, store: (response: SnapshotResponse) => void) {
    super(handler)
    this.#store = store
  }

  override onResponseStart(...args: Parameters<DecoratorHandler['onResponseStart']>): void {
    const [, statusCode, headers] = args
    if (statusCode >= 200) this.#head = { statusCode, headers: { ...headers } as SnapshotResponse['headers'] }
    super.onResponseStart(...args)
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    // A copy: the next handler may transfer the memory.
    this.#body.addLent(chunk, 0, chunk.length)
    super.onResponseData(controller, chunk)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    // Stored first: the caller may look for the snapshot as soon as it has the response.
    this.#store({
      ...this.#head,
      body: this.#body.view().toString('base64'),
      trailers: { ...trailers } as SnapshotResponse['trailers'],
      time: Math.round(now() - this.#startedAt),
    })
    super.onResponseEnd(controller, trailers)
  }
}
