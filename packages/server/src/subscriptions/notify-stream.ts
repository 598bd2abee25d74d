import { backPressureKey, errorCodes, McpError } from '@x/schema'
import { endStream, type Hub, type Stream } from './stream.ts'
import { addressed, noticeOf } from './topics.ts'

/**
 * Notifies a stream that a topic has changed. While its reader is behind, changes are only noted, each topic once: the
 * notes can never exceed the filter. A reader that stays behind is disconnected.
 */
export function notifyStream(hub: Hub, stream: Stream, key: string): void {
  if (stream.finish === undefined) return
  if (stream.missed !== undefined) {
    stream.missed.add(key)
    return
  }
  const { call, id } = stream
  try {
    const drained = call.context.get(backPressureKey)?.()
    if (drained === undefined) return call.notify(addressed(noticeOf(key), id))
    stream.missed = new Set([key])
    awaitReader(hub, stream, drained)
  } catch (error) {
    // The others hear nonetheless.
    endStream(hub, stream, { error })
  }
}

function awaitReader(hub: Hub, stream: Stream, drained: Promise<void>): void {
  const { clock, slowReaderMs } = hub
  stream.slowTimer = clock.setTimeout(() => endStream(hub, stream, { error: tooSlow(slowReaderMs) }), slowReaderMs)
  const catchUp = (): void => {
    const { missed } = stream
    if (missed === undefined) return
    clock.clearTimeout(stream.slowTimer)
    stream.missed = undefined
    for (const key of missed) notifyStream(hub, stream, key)
  }
  void drained.then(catchUp, catchUp)
}

function tooSlow(ms: number): McpError {
  const message = `The subscription was ended, because its reader did not catch up within ${ms} ms: listen again`
  return new McpError(errorCodes.internal, message)
}
