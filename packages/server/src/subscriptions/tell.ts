import { errorCodes, McpError } from '@x/schema'
import { endStream, type Hub, type Stream, type Topic } from './stream.ts'
import { addressed } from './topics.ts'

/**
 * Tells a stream that a topic has changed. While its reader is behind, changes are only noted, each topic once: what is kept
 * for it can never be more than it asked for. A reader that stays behind is broken off.
 */
export function tell(hub: Hub, stream: Stream, topic: Topic): void {
  if (stream.settle === undefined) return
  if (stream.missed !== undefined) {
    stream.missed.add(topic)
    return
  }
  const { call, id } = stream
  try {
    const drained = call.drained?.()
    if (drained === undefined) return call.notify(addressed(topic.notice, id))
    stream.missed = new Set([topic])
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
    for (const topic of missed) tell(hub, stream, topic)
  }
  void drained.then(catchUp, catchUp)
}

function tooSlow(ms: number): McpError {
  const message = `The subscription was ended, because its reader did not catch up within ${ms} ms: listen again`
  return new McpError(errorCodes.internal, message)
}
