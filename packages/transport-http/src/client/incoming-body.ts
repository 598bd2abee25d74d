/** A response body that arrives in chunks. Each chunk goes directly to the reader. */
export interface IncomingBody {
  /** Returns true once the body has ended or failed, so that there is nothing left to stop. */
  readonly isFinished: () => boolean
  /** Called by the platform for each chunk. An error that the reader throws stops the body. */
  readonly receiveChunk: (chunk: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /**
   * Passes every chunk to the reader, beginning with the chunks that have already arrived. Can be called once. Rejects
   * with the error of the body.
   */
  readonly read: (onChunk: (chunk: Uint8Array) => void) => Promise<void>
}

interface BodyReader {
  readonly push: (chunk: Uint8Array) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Creates a body. `stop` ends it early. */
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
