import { startBackgroundTimer } from '@x/core'
import { backPressureKey, type Call, type JsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'
import { toDetailedTask } from './to-detailed-task.ts'
import type { TaskContext } from './options.ts'

/** The notifications about tasks on one stream. */
export interface TaskStream {
  /** Begins to send, first the current state of each task. */
  open(ids: readonly string[]): void
  /** Notes that a task may have changed. */
  notifyChange(id: string): void
  close(): void
}

/** Records a state. Returns true if it differs from the last one by more than the poll interval. */
function recordIfNewState(task: ReturnType<typeof toDetailedTask>, sentTexts: Map<string, string>): boolean {
  const text = JSON.stringify({ ...task, pollIntervalMs: 0 })
  const previousText = sentTexts.get(task.taskId)
  sentTexts.set(task.taskId, text)
  return text !== previousText
}

function toTaskNotification(task: ReturnType<typeof toDetailedTask>, streamId: RequestId): RpcNotification {
  // A row holds JSON, which readonly interfaces cannot express.
  const params: JsonObject = JSON.parse(JSON.stringify(task))
  const _meta = { ...task._meta, [metaKeys.subscriptionId]: streamId }
  return { jsonrpc: '2.0', method: 'notifications/tasks', params: { ...params, _meta } }
}

/** The parts of a stream. */
export interface TaskStreamContext {
  readonly requestId: RequestId
  readonly call: Call
  readonly ownerKey: string
  readonly context: TaskContext
}

/**
 * Makes a {@link TaskStream}. Changes are noted, each task once, and sent one after the other, each when the reader has
 * taken the one before. The state is read at that moment, so that a slow reader misses states in between and never the
 * last.
 */
export function createTaskStream({ requestId: streamId, call, ownerKey, context }: TaskStreamContext): TaskStream {
  const { engine, clock, onError } = context.settings
  const backPressure = call.context.get(backPressureKey)
  /** The text that was sent last, by task. */
  const sentTexts = new Map<string, string>()
  const changedIds = new Set<string>()
  let isOpen = false
  let isSending = false
  let timer: unknown

  const sendTask = async (id: string): Promise<void> => {
    const row = await engine.get(id, ownerKey)
    const task = row && toDetailedTask(row, context.settings)
    if (task === undefined || !isOpen || !recordIfNewState(task, sentTexts)) return
    call.notify(toTaskNotification(task, streamId))
  }
  const sendChanges = async (): Promise<void> => {
    for (const id of changedIds) {
      await backPressure?.()
      if (!isOpen) return
      changedIds.delete(id)
      try {
        await sendTask(id)
      } catch (error) {
        changedIds.add(id)
        throw error
      }
    }
  }
  const sendPendingChanges = async (): Promise<void> => {
    if (!isOpen || isSending) return
    isSending = true
    try {
      // Changes during a send follow it.
      while (isOpen && changedIds.size > 0) await sendChanges()
    } catch (error) {
      onError(error)
      clock.clearTimeout(timer)
      timer = startBackgroundTimer(clock, () => void sendPendingChanges(), context.settings.pollIntervalMs)
    } finally {
      isSending = false
    }
  }
  return {
    open: (ids) => {
      isOpen = true
      for (const id of ids) sentTexts.set(id, '')
      for (const id of ids) changedIds.add(id)
      void sendPendingChanges()
    },
    notifyChange: (id) => {
      if (isOpen && !sentTexts.has(id)) return
      changedIds.add(id)
      void sendPendingChanges()
    },
    close: () => {
      isOpen = false
      clock.clearTimeout(timer)
    },
  }
}
