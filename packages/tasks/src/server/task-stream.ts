import { startBackgroundTimer } from '@x/core'
import { backPressureKey, type Call } from '@x/exchange'
import { type JsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'
import { toDetailedTask } from './to-detailed-task.ts'
import type { TaskContext } from './options.ts'
import { taskOwnerKeyOf } from './task-payload.ts'

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
 * Notifications about tasks on one stream. A changed task is recorded once, and recorded tasks are sent one after the
 * other, each as soon as the reader has received the one before. State is read only when it is sent, so a slow reader
 * may miss states in between, but never the last one.
 */
export class TaskStream {
  readonly #id: RequestId
  readonly #call: Call
  readonly #settings: TaskContext['settings']
  /** What was last sent of each task. Bounded by `maxTaskIds` of one stream. */
  readonly #sentTexts = new Map<string, string>()
  // Bounded by `maxTaskIds` of one stream.
  readonly #changedIds = new Set<string>()
  #isOpen = false
  #isSending = false
  #timer: unknown

  constructor(id: RequestId, call: Call, { settings }: TaskContext) {
    this.#id = id
    this.#call = call
    this.#settings = settings
  }

  /** Starts to send, first the current state of each task. */
  open(ids: readonly string[]): void {
    this.#isOpen = true
    for (const id of ids) this.#sentTexts.set(id, '')
    for (const id of ids) this.#changedIds.add(id)
    void this.#sendPendingChanges()
  }

  /** Records that a task may have changed; its state is then read and sent. */
  notifyChange(id: string): void {
    if (this.#isOpen && !this.#sentTexts.has(id)) return
    this.#changedIds.add(id)
    void this.#sendPendingChanges()
  }

  close(): void {
    this.#isOpen = false
    this.#settings.clock.clearTimeout(this.#timer)
  }

  async #sendPendingChanges(): Promise<void> {
    if (!this.#isOpen || this.#isSending) return
    const { clock, onError, pollIntervalMs } = this.#settings
    this.#isSending = true
    try {
      // Changes that were recorded during a send are sent next.
      while (this.#isOpen && this.#changedIds.size > 0) await this.#sendChanges()
    } catch (error) {
      onError(error)
      clock.clearTimeout(this.#timer)
      this.#timer = startBackgroundTimer(clock, () => void this.#sendPendingChanges(), pollIntervalMs)
    } finally {
      this.#isSending = false
    }
  }

  async #sendChanges(): Promise<void> {
    for (const id of this.#changedIds) {
      await this.#call.context.get(backPressureKey)?.()
      if (!this.#isOpen) return
      this.#changedIds.delete(id)
      try {
        await this.#sendTask(id)
      } catch (error) {
        this.#changedIds.add(id)
        throw error
      }
    }
  }

  async #sendTask(id: string): Promise<void> {
    const row = await this.#settings.engine.get(id, taskOwnerKeyOf(this.#call.principal))
    const task = row && toDetailedTask(row, this.#settings)
    if (task === undefined || !this.#isOpen || !recordIfNewState(task, this.#sentTexts)) return
    this.#call.notify(toTaskNotification(task, this.#id))
  }
}
