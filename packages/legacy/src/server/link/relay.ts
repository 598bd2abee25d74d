import type { HttpReply } from '@x/schema'
import type { LinkDeps } from './link-deps.ts'

/** One end of a relay. */
export interface RelayEnd {
  /** The other end has written, or is alive. */
  onWritten?(): void
  /** The other end has gone. */
  onLeft?(): void
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
): Promise<(HttpReply & Required<Pick<RelayEnd, 'onLeft'>>) | undefined> {
  if (!(await store.addText(id, 0, ': relayed\n\n'))) return undefined
  let place = 0
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  let closed = false
  const onClose: (() => void)[] = []
  const send = (text: string): void => {
    waiting += text.length
    last = last.then(async () => {
      place += 1
      try {
        await store.addText(id, place, text)
        bus.publish('written', { id })
      } catch (error) {
        deps.reportError(error)
        close()
      }
      waiting -= text.length
    })
  }
  let cancelAlive = (): void => {}
  const beat = (): void => {
    bus.publish('written', { id })
    cancelAlive = deps.schedule(beat, heartbeatIntervalMs)
  }
  const close = (): void => {
    if (closed) return
    closed = true
    cancelAlive()
    onEnd()
    for (const run of onClose.splice(0)) run()
  }
  cancelAlive = deps.schedule(beat, heartbeatIntervalMs)
  return {
    // A relay begins with a stream that has begun.
    send: () => {},
    open: () => {},
    write: (text) => (closed ? undefined : send(text)),
    end() {
      if (closed) return
      send(endMark)
      close()
    },
    queued: () => waiting,
    drained: () => (waiting === 0 ? undefined : last),
    onClose: (run) => void (closed ? run() : onClose.push(run)),
    onStop: () => {},
    onLeft: close,
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
  let place = 0
  let closed = false
  let reading: Promise<void> | undefined
  let again = false
  let cancelSilence = (): void => {}
  const close = (): void => {
    if (closed) return
    closed = true
    cancelSilence()
    onEnd()
    reply.end()
  }
  const leave = (): void => {
    if (!closed) bus.publish('left', { id })
    close()
  }
  const readAll = async (): Promise<void> => {
    do {
      again = false
      for (;;) {
        const text = await store.takeText(id, place)
        if (text === undefined || closed) break
        place += 1
        if (text === endMark) return close()
        reply.write(text)
      }
    } while (again)
  }
  const onWritten = (): void => {
    if (closed) return
    cancelSilence()
    cancelSilence = deps.schedule(leave, silenceTimeoutMs)
    again = true
    reading ??= readAll()
      .catch((error: unknown) => {
        deps.reportError(error)
        leave()
      })
      .finally(() => {
        reading = undefined
      })
  }
  reply.open()
  reply.onClose(leave)
  onWritten()
  return { onWritten }
}
