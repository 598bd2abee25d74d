import { startBackgroundTimer } from '@x/core'
import { backPressureKey, type Call } from '@x/exchange'
import { type JsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'
import { toDetailedTask } from './to-detailed-task.ts'
import type { TaskContext } from './options.ts'
import { taskOwnerKeyOf } from './task-payload.ts'

/** Notifications about tasks on one stream. */
export interface TaskStream {
  /** Starts to send, first the current state of each task. */
  open(ids: readonly string[]): void
  /** Records that a task may have changed; its state is then read and sent. */
  notifyChange(id: string): void
  close(): void
}

function recordIfNewState(task: ReturnType<typeof toDetailedTask>, sentTexts: Map<string, string>): boolean {
  const text = JSON.stringify({ ...task, pollIntervalMs: 0 })
  const previousText = sentTexts.get(task.taskId)
  sentTexts.set(task.taskId, text)
  return text !== previousText
}

function toTaskNotification(task: ReturnType<typeof toDetailedTask>, streamId: RequestId): RpcNotification {
  // Through JSON text, because TypeScript does not assign readonly interfaces to `JsonObject`.
  const params: JsonObject = JSON.parse(JSON.stringify(task))
  const _meta = { ...task._meta, [metaKeys.subscriptionId]: streamId }
  return { jsonrpc: '2.0', method: 'notifications/tasks', params: { ...params, _meta } }
}

/**
 * A changed task is recorded once, and recorded tasks are sent one after the other, each as soon as the reader has
 * received the one before. State is read only when it is sent, so a slow reader may miss states in between, but never
 * the last one.
 */
export function createTaskStream(streamId: RequestId, call: Call, { settings }: TaskContext): TaskStream {
  const { engine, clock, onError } = settings
  const ownerKey = taskOwnerKeyOf(call.principal)
  const backPressure = call.context.get(backPressureKey)
  /** What was last sent of each task. Bounded by `maxTaskIds` of one stream. */
  const sentTexts = new Map<string, string>()
  // Bounded by `maxTaskIds` of one stream.
  const changedIds = new Set<string>()
  let isOpen = false
  let isSending = false
  let timer: unknown

  const sendTask = async (id: string): Promise<void> => {
    const row = await engine.get(id, ownerKey)
    const task = row && toDetailedTask(row, settings)
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
      // Changes that were recorded during a send are sent next.
      while (isOpen && changedIds.size > 0) await sendChanges()
    } catch (error) {
      onError(error)
      clock.clearTimeout(timer)
      timer = startBackgroundTimer(clock, () => void sendPendingChanges(), settings.pollIntervalMs)
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
