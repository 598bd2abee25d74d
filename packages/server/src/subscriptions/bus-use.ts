import type { ChangeBus, ChangeListener } from '../bus/change-bus.ts'

/** The use of a bus by streams: it is listened to once, while there is a stream at all. */
export interface BusUse {
  /** Counts one more stream, and listens if none did. Resolves when every change from then on will come. */
  acquire(): Promise<void>
  /** Counts one stream less, also one whose `acquire` has failed or not ended; the last one stops the listening. */
  release(): void
}

/**
 * Nothing is listened to before the first stream. After a failure, which `onError` hears once however many streams wait, the
 * next one tries again.
 */
export function createBusUse(bus: ChangeBus, listener: ChangeListener, onError: (error: unknown) => void): BusUse {
  let users = 0
  let opening: Promise<void> | undefined
  let stop: (() => void) | undefined

  const open = async (): Promise<void> => {
    try {
      stop = await bus.listen(listener)
    } catch (error) {
      opening = undefined
      onError(error)
      throw error
    }
    // Those who wanted it may have gone while it opened.
    if (users === 0) close()
  }
  const close = (): void => {
    const stopNow = stop
    stop = undefined
    opening = undefined
    try {
      stopNow?.()
    } catch (error) {
      onError(error)
    }
  }
  return {
    acquire: () => {
      users += 1
      opening ??= open()
      return opening
    },
    release: () => {
      users -= 1
      if (users === 0 && stop !== undefined) close()
    },
  }
}
