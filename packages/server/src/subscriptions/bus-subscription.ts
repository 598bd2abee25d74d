import { captureAsyncContext, type ChangeBus, type ChangeListener } from '@x/core'

/** One subscription to a bus for all streams together, which exists while there is at least one. */
export interface SharedBusSubscription {
  /**
   * Adds a stream, and starts listening if it is the first. Resolves when every change from then on will be received.
   */
  acquire(): Promise<void>
  /** Removes a stream, even if its `acquire` failed or is still pending. Removing the last one stops the listening. */
  release(): void
}

/**
 * Listens from the first stream on. A failure is reported once for all streams that wait, and the next stream tries
 * again. Bus and listener run in the asynchronous context in which this function is called: they must not see that of
 * the caller who opens the first stream.
 */
export function createSharedBusSubscription(
  bus: ChangeBus,
  listener: ChangeListener,
  onError: (error: unknown) => void,
): SharedBusSubscription {
  const runInOrigin = captureAsyncContext()
  const detachedListener: ChangeListener = {
    onChange: (change) => runInOrigin(() => listener.onChange(change)),
    onGap: () => runInOrigin(() => listener.onGap()),
  }
  let userCount = 0
  let openPromise: Promise<void> | undefined
  let stopListener: (() => void) | undefined

  const openBus = async (): Promise<void> => {
    try {
      stopListener = await runInOrigin(() => bus.listen(detachedListener))
    } catch (error) {
      openPromise = undefined
      onError(error)
      throw error
    }
    // All streams may have ended while the bus subscription was being opened.
    if (userCount === 0) closeBus()
  }
  const closeBus = (): void => {
    const stopCurrentListener = stopListener
    stopListener = undefined
    openPromise = undefined
    try {
      stopCurrentListener?.()
    } catch (error) {
      onError(error)
    }
  }
  return {
    acquire: () => {
      userCount += 1
      openPromise ??= openBus()
      return openPromise
    },
    release: () => {
      userCount -= 1
      if (userCount === 0 && stopListener !== undefined) closeBus()
    },
  }
}
