/** A body that arrives in chunks, each of which goes directly to the reader. */
export interface IncomingBody {
  /** True if the body has ended or failed. Stopping it then has no effect. */
  readonly isFinished: () => boolean
  /** The platform calls it for each chunk. If the reader throws, the body is stopped. */
  readonly receiveChunk: (chunk: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /**
   * Passes every chunk to the reader, beginning with those that have already arrived. May be called once. Rejects with
   * the error of the body.
   */
  readonly read: (onChunk: (chunk: Uint8Array) => void) => Promise<void>
}

interface BodyReader {
  readonly push: (chunk: Uint8Array) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** `stop` stops its arrival. */
export function createIncomingBody(stop: () => void): IncomingBody {
  // First bytes may arrive together with the headers, before any reader can exist.
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
