import { backPressureKey, errorCodes, McpError } from '@x/schema'
import { endStream, type SubscriptionHub, type SubscriptionStream } from './stream.ts'
import { addSubscriptionId, noticeOf } from './topics.ts'

/**
 * Notifies a stream that a topic has changed. While its reader is behind, changes are only noted, each topic once: the
 * notes can never exceed the filter. A reader that stays behind is disconnected.
 */
export function notifyStream(hub: SubscriptionHub, stream: SubscriptionStream, key: string): void {
  if (stream.finish === undefined) return
  if (stream.missedKeys !== undefined) {
    stream.missedKeys.add(key)
    return
  }
  const { call, id } = stream
  try {
    const drainPromise = call.context.get(backPressureKey)?.()
    if (drainPromise === undefined) return call.notify(addSubscriptionId(noticeOf(key), id))
    stream.missedKeys = new Set([key])
    waitForReader(hub, stream, drainPromise)
  } catch (error) {
    // The others hear nonetheless.
    endStream(hub, stream, { error })
  }
}

function waitForReader(hub: SubscriptionHub, stream: SubscriptionStream, drainPromise: Promise<void>): void {
  const { clock, slowReaderMs } = hub
  stream.slowTimer = clock.setTimeout(
    () => endStream(hub, stream, { error: slowReaderError(slowReaderMs) }),
    slowReaderMs,
  )
  const catchUp = (): void => {
    const { missedKeys } = stream
    if (missedKeys === undefined) return
    clock.clearTimeout(stream.slowTimer)
    stream.missedKeys = undefined
    for (const key of missedKeys) notifyStream(hub, stream, key)
  }
  void drainPromise.then(catchUp, catchUp)
}

function slowReaderError(ms: number): McpError {
  const message = `The subscription was ended, because its reader did not catch up within ${ms} ms: listen again`
  return new McpError(errorCodes.internal, message)
}
