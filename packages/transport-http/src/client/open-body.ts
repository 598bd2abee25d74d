/** A body that arrives: a platform hands its chunks on to whoever reads it, and keeps none. */
export interface ArrivingBody {
  /** Returns true once the body has ended or failed, so that there is nothing left to stop. */
  readonly isOver: () => boolean
  /** The platform's side. What the reader throws at a chunk stops the body. */
  readonly take: (chunk: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /** Hands on every chunk, first those that have come before. To be called once; rejects with what the body failed of. */
  readonly read: (take: (chunk: Uint8Array) => void) => Promise<void>
}

interface Reader {
  readonly take: (chunk: Uint8Array) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Begins a body, which `stop` breaks off. */
export function openBody(stop: () => void): ArrivingBody {
  // What comes with the headers is there before anybody can have asked for it.
  const early: Uint8Array[] = []
  let reader: Reader | undefined
  let ended: { readonly error?: unknown } | undefined

  const fail = (error: unknown): void => {
    ended ??= { error }
    reader?.reject(error)
  }
  const hand = (to: Reader, chunk: Uint8Array): boolean => {
    try {
      to.take(chunk)
      return true
    } catch (error) {
      to.reject(error)
      stop()
      return false
    }
  }
  return {
    isOver: () => ended !== undefined,
    take: (chunk) => {
      if (reader === undefined) early.push(chunk)
      else hand(reader, chunk)
    },
    end: () => {
      ended ??= {}
      reader?.resolve()
    },
    fail,
    read: (take) =>
      new Promise((resolve, reject) => {
        const to = { take, resolve, reject }
        reader = to
        const isRead = early.splice(0).every((chunk) => hand(to, chunk))
        if (ended === undefined || !isRead) return
        if ('error' in ended) reject(ended.error)
        else resolve()
      }),
  }
}
