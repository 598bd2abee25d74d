import { type Call, type JsonObject, metaKeys, type RequestId } from '@x/schema'
import { quietTimer } from './quiet-timer.ts'
import { showTask } from './show-task.ts'
import type { TaskContext } from './task-context.ts'

/** The notifications about tasks on one stream. */
export interface TaskStream {
  /** Begins to send, with the state of each task as it is. */
  open(ids: readonly string[]): void
  /** A task may have changed. */
  changed(id: string): void
  close(): void
}

/** What a stream is made of. */
export interface TaskStreamParts {
  readonly id: RequestId
  readonly call: Call
  readonly owner: string
  readonly context: TaskContext
}

/**
 * Makes a {@link TaskStream}. Changes are noted, each task once, and sent one after the other when the reader has taken what was
 * sent before: then as it is at that moment, so that a slow reader misses states in between and never the last.
 */
export function createTaskStream({ id: streamId, call, owner, context }: TaskStreamParts): TaskStream {
  const { engine, clock, onError } = context.settings
  /** What was sent last of each task that is told of. */
  const told = new Map<string, string>()
  const changed = new Set<string>()
  let isOpen = false
  let isSending = false
  let timer: unknown

  const send = async (id: string): Promise<void> => {
    const row = await engine.get(id, owner)
    const text = row && JSON.stringify(showTask(row, context.settings))
    if (text === undefined || text === told.get(id) || !isOpen) return
    told.set(id, text)
    const params: JsonObject = { ...JSON.parse(text), _meta: { [metaKeys.subscriptionId]: streamId } }
    call.notify({ jsonrpc: '2.0', method: 'notifications/tasks', params })
  }
  const sendAll = async (): Promise<void> => {
    for (const id of changed) {
      await call.drained?.()
      if (!isOpen) return
      changed.delete(id)
      try {
        await send(id)
      } catch (error) {
        changed.add(id)
        throw error
      }
    }
  }
  const pump = async (): Promise<void> => {
    if (!isOpen || isSending) return
    isSending = true
    try {
      // What changes while it sends is sent as well.
      while (isOpen && changed.size > 0) await sendAll()
    } catch (error) {
      onError(error)
      clock.clearTimeout(timer)
      timer = quietTimer(clock, () => void pump(), context.settings.pollIntervalMs)
    } finally {
      isSending = false
    }
  }
  return {
    open: (ids) => {
      isOpen = true
      for (const id of ids) told.set(id, '')
      for (const id of ids) changed.add(id)
      void pump()
    },
    changed: (id) => {
      if (isOpen && !told.has(id)) return
      changed.add(id)
      void pump()
    },
    close: () => {
      isOpen = false
      clock.clearTimeout(timer)
    },
  }
}
