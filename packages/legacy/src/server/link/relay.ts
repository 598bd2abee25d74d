import type { HttpReply } from '@x/schema'
import type { LinkDeps } from './link-deps.ts'

/** One end of a relay. */
export interface RelayEnd {
  /** The other end has written, or is alive. */
  onWritten?(): void
  /** The other end has gone. */
  onPeerLeft?(): void
}

const heartbeatIntervalMs = 1000
const silenceTimeoutMs = 5000
/** Ends a relay: no event is empty. */
const endMark = ''

/**
 * Writes the stream of a call for a reader at another instance, through the store. Undefined when another instance
 * writes already. The reader is told of the writer every second, so that it does not wait for one that has died.
 */
export async function writeRelay(
  id: string,
  { store, bus, deps }: LinkDeps,
  onEnd: () => void,
): Promise<(HttpReply & Required<Pick<RelayEnd, 'onPeerLeft'>>) | undefined> {
  if (!(await store.addText(id, 0, ': relayed\n\n'))) return undefined
  let textIndex = 0
  let queuedLength = 0
  let lastWrite: Promise<void> = Promise.resolve()
  let isClosed = false
  const closeCallbacks: (() => void)[] = []
  const send = (text: string): void => {
    queuedLength += text.length
    lastWrite = lastWrite.then(async () => {
      textIndex += 1
      try {
        await store.addText(id, textIndex, text)
        bus.publish('written', { id })
      } catch (error) {
        deps.reportError(error)
        close()
      }
      queuedLength -= text.length
    })
  }
  let cancelHeartbeat = (): void => {}
  const sendHeartbeat = (): void => {
    bus.publish('written', { id })
    cancelHeartbeat = deps.schedule(sendHeartbeat, heartbeatIntervalMs)
  }
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    cancelHeartbeat()
    onEnd()
    for (const run of closeCallbacks.splice(0)) run()
  }
  cancelHeartbeat = deps.schedule(sendHeartbeat, heartbeatIntervalMs)
  return {
    // A relay begins with a stream that has begun.
    send: () => {},
    open: () => {},
    write: (text) => (isClosed ? undefined : send(text)),
    end() {
      if (isClosed) return
      send(endMark)
      close()
    },
    countQueuedBytes: () => queuedLength,
    waitForDrain: () => (queuedLength === 0 ? undefined : lastWrite),
    onClose: (run) => void (isClosed ? run() : closeCallbacks.push(run)),
    onStop: () => {},
    onPeerLeft: close,
  }
}

/**
 * Reads what another instance writes, and passes it on. A writer that is silent for 5 seconds is gone: the client comes
 * back then.
 */
export function readRelay(
  id: string,
  reply: HttpReply,
  { store, bus, deps, onEnd }: LinkDeps & { readonly onEnd: () => void },
): Required<Pick<RelayEnd, 'onWritten'>> {
  let textIndex = 0
  let isClosed = false
  let readPromise: Promise<void> | undefined
  let mustReadAgain = false
  let cancelSilenceTimer = (): void => {}
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    cancelSilenceTimer()
    onEnd()
    reply.end()
  }
  const stopReadingRelay = (): void => {
    if (!isClosed) bus.publish('left', { id })
    close()
  }
  const readAllTexts = async (): Promise<void> => {
    do {
      mustReadAgain = false
      for (;;) {
        const text = await store.takeText(id, textIndex)
        if (text === undefined || isClosed) break
        textIndex += 1
        if (text === endMark) return close()
        reply.write(text)
      }
    } while (mustReadAgain)
  }
  const onWritten = (): void => {
    if (isClosed) return
    cancelSilenceTimer()
    cancelSilenceTimer = deps.schedule(stopReadingRelay, silenceTimeoutMs)
    mustReadAgain = true
    readPromise ??= readAllTexts()
      .catch((error: unknown) => {
        deps.reportError(error)
        stopReadingRelay()
      })
      .finally(() => {
        readPromise = undefined
      })
  }
  reply.open()
  reply.onClose(stopReadingRelay)
  onWritten()
  return { onWritten }
}
