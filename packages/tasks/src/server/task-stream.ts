import { backPressureKey, type Call, type JsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'
import { unrefTimer } from './unref-timer.ts'
import { showTask } from './show-task.ts'
import type { TaskContext } from './task-context.ts'

/** The notifications about tasks on one stream. */
export interface TaskStream {
  /** Begins to send, first the current state of each task. */
  open(ids: readonly string[]): void
  /** Notes that a task may have changed. */
  changed(id: string): void
  close(): void
}

/** Notes what is sent; another poll interval alone is no change. */
function isNew(task: ReturnType<typeof showTask>, sent: Map<string, string>): boolean {
  const text = JSON.stringify({ ...task, pollIntervalMs: 0 })
  const before = sent.get(task.taskId)
  sent.set(task.taskId, text)
  return text !== before
}

function notificationOf(task: ReturnType<typeof showTask>, streamId: RequestId): RpcNotification {
  // What a row holds is JSON, which readonly interfaces cannot say.
  const params: JsonObject = JSON.parse(JSON.stringify(task))
  const _meta = { ...task._meta, [metaKeys.subscriptionId]: streamId }
  return { jsonrpc: '2.0', method: 'notifications/tasks', params: { ...params, _meta } }
}

/** The parts of a stream. */
export interface TaskStreamParts {
  readonly id: RequestId
  readonly call: Call
  readonly owner: string
  readonly context: TaskContext
}

/**
 * Makes a {@link TaskStream}. Changes are noted, each task once, and sent one after the other, each when the reader has taken the one
 * before. The state is read at that moment, so that a slow reader misses states in between and never the last.
 */
export function createTaskStream({ id: streamId, call, owner, context }: TaskStreamParts): TaskStream {
  const { engine, clock, onError } = context.settings
  const backPressure = call.context.get(backPressureKey)
  /** The text that was sent last, by task. */
  const sent = new Map<string, string>()
  const changed = new Set<string>()
  let isOpen = false
  let isSending = false
  let timer: unknown

  const send = async (id: string): Promise<void> => {
    const row = await engine.get(id, owner)
    const task = row && showTask(row, context.settings)
    if (task === undefined || !isOpen || !isNew(task, sent)) return
    call.notify(notificationOf(task, streamId))
  }
  const sendAll = async (): Promise<void> => {
    for (const id of changed) {
      await backPressure?.()
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
      // Changes during a send follow it.
      while (isOpen && changed.size > 0) await sendAll()
    } catch (error) {
      onError(error)
      clock.clearTimeout(timer)
      timer = unrefTimer(clock, () => void pump(), context.settings.pollIntervalMs)
    } finally {
      isSending = false
    }
  }
  return {
    open: (ids) => {
      isOpen = true
      for (const id of ids) sent.set(id, '')
      for (const id of ids) changed.add(id)
      void pump()
    },
    changed: (id) => {
      if (isOpen && !sent.has(id)) return
      changed.add(id)
      void pump()
    },
    close: () => {
      isOpen = false
      clock.clearTimeout(timer)
    },
  }
}
