type BodyReader = { push(chunk: Uint8Array): void; resolve(): void; reject(error: unknown): void }

/** A body that arrives in chunks, each of which goes directly to the reader. */
export class IncomingBody {
  readonly #stop: () => void
  // First bytes may arrive together with the headers, before any reader can exist.
  readonly #earlyChunks: Uint8Array[] = []
  #reader: BodyReader | undefined
  #endState: { readonly error?: unknown } | undefined

  /** `stop` stops its arrival. */
  constructor(stop: () => void) {
    this.#stop = stop
  }

  /** True if the body has ended or failed. Stopping it then has no effect. */
  isFinished(): boolean {
    return this.#endState !== undefined
  }

  /** The platform calls it for each chunk. If the reader throws, the body is stopped. */
  receiveChunk(chunk: Uint8Array): void {
    if (this.#reader === undefined) this.#earlyChunks.push(chunk)
    else this.#deliver(this.#reader, chunk)
  }

  end(): void {
    this.#endState ??= {}
    this.#reader?.resolve()
  }

  fail(error: unknown): void {
    this.#endState ??= { error }
    this.#reader?.reject(error)
  }

  /**
   * Passes every chunk to the reader, beginning with those that have already arrived. May be called once. Rejects with
   * the error of the body.
   */
  read(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const reader = { push: onChunk, resolve, reject }
      this.#reader = reader
      const isEarlyBodyRead = this.#earlyChunks.splice(0).every((chunk) => this.#deliver(reader, chunk))
      if (this.#endState === undefined || !isEarlyBodyRead) return
      if ('error' in this.#endState) reject(this.#endState.error)
      else resolve()
    })
  }

  #deliver({ push, reject }: BodyReader, chunk: Uint8Array): boolean {
    try {
      push(chunk)
      return true
    } catch (error) {
      reject(error)
      this.#stop()
      return false
    }
  }
}
