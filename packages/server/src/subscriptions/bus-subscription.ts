import { captureAsyncContext, type ChangeBus, type ChangeListener } from '@x/core'

/**
 * One subscription to a bus for all streams together, which exists while there is at least one. A failure is reported
 * once for all streams that wait, and the next stream tries again. Bus and listener run in the asynchronous context in
 * which this object is made: they must not see that of the caller who opens the first stream.
 */
export class SharedBusSubscription {
  readonly #bus: ChangeBus
  readonly #listener: ChangeListener
  readonly #onError: (error: unknown) => void
  readonly #runInOrigin = captureAsyncContext()
  #userCount = 0
  #opening: Promise<void> | undefined
  #stopListener: (() => void) | undefined

  constructor(bus: ChangeBus, listener: ChangeListener, onError: (error: unknown) => void) {
    this.#bus = bus
    this.#listener = {
      onChange: (change) => this.#runInOrigin(() => listener.onChange(change)),
      onGap: () => this.#runInOrigin(() => listener.onGap()),
    }
    this.#onError = onError
  }

  /**
   * Adds a stream, and starts listening if it is the first. Resolves when every change from then on will be received.
   */
  acquire(): Promise<void> {
    this.#userCount += 1
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** Removes a stream, even if its `acquire` failed or is still pending. Removing the last one stops the listening. */
  release(): void {
    this.#userCount -= 1
    if (this.#userCount === 0 && this.#stopListener !== undefined) this.#close()
  }

  async #open(): Promise<void> {
    try {
      this.#stopListener = await this.#runInOrigin(() => this.#bus.listen(this.#listener))
    } catch (error) {
      this.#opening = undefined
      this.#onError(error)
      throw error
    }
    // All streams may have ended while the bus subscription was being opened.
    if (this.#userCount === 0) this.#close()
  }

  #close(): void {
    const stopListener = this.#stopListener
    this.#stopListener = undefined
    this.#opening = undefined
    try {
      stopListener?.()
    } catch (error) {
      this.#onError(error)
    }
  }
}
