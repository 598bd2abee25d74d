/** A body that arrives. The platform passes its chunks to the reader and stores none. */
export interface IncomingBody {
  /** Returns true once the body has ended or failed, so that there is nothing left to stop. */
  readonly isFinished: () => boolean
  /** The platform's side. What the reader throws at a chunk stops the body. */
  readonly receiveChunk: (chunk: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /**
   * Hands on every chunk, first those that have come before. To be called once. Rejects with what the body failed of.
   */
  readonly read: (onChunk: (chunk: Uint8Array) => void) => Promise<void>
}

interface BodyReader {
  readonly push: (chunk: Uint8Array) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Begins a body, which `stop` breaks off. */
export function createIncomingBody(stop: () => void): IncomingBody {
  // Bytes that come with the headers are there before anybody can have asked for them.
  const earlyChunks: Uint8Array[] = []
  let reader: BodyReader | undefined
  let endState: { readonly error?: unknown } | undefined

  const fail = (error: unknown): void => {
    endState ??= { error }
    reader?.reject(error)
  }
  const deliverChunk = (bodyReader: BodyReader, chunk: Uint8Array): boolean => {
    try {
      bodyReader.push(chunk)
      return true
    } catch (error) {
      bodyReader.reject(error)
      stop()
      return false
    }
  }
  return {
    isFinished: () => endState !== undefined,
    receiveChunk: (chunk) => {
      if (reader === undefined) earlyChunks.push(chunk)
      else deliverChunk(reader, chunk)
    },
    end: () => {
      endState ??= {}
      reader?.resolve()
    },
    fail,
    read: (onChunk) =>
      new Promise((resolve, reject) => {
        const bodyReader = { push: onChunk, resolve, reject }
        reader = bodyReader
        const isEarlyBodyRead = earlyChunks.splice(0).every((chunk) => deliverChunk(bodyReader, chunk))
        if (endState === undefined || !isEarlyBodyRead) return
        if ('error' in endState) reject(endState.error)
        else resolve()
      }),
  }
}
