import { captureAsyncContext, type ChangeBus, type ChangeListener } from '@x/core'

/** The use of a bus by streams: it is listened to once, while there is a stream at all. */
export interface SharedBusSubscription {
  /** Counts one more stream, and listens if none did. Resolves when every change from then on will come. */
  acquire(): Promise<void>
  /** Counts one stream less, also one whose `acquire` has failed or not ended. The last one stops the listening. */
  release(): void
}

/**
 * Creates a {@link SharedBusSubscription}. It listens with the first stream, and again with the next one after a
 * failure, which is reported once for all streams that wait. The bus and its listener run in the asynchronous context
 * of this moment: the first stream is one caller's, and changes are for all.
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
    // The streams that needed it may have ended while it opened.
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
