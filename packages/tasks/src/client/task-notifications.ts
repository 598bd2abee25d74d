import { sleep } from '@x/core'
import { isClientError, isPermanent } from '@x/client'
import { isJsonObject, type JsonObject, type RequestId, type RpcNotification } from '@x/schema'
import { subscriptionIdOf } from '@x/schema/internal'
import type { DetailedTask } from '../schema/task.ts'
import { parseTaskNotification } from './parse-results.ts'
import { computeFailurePauseMs, maxFailurePauseMs, type TasksClientSettings } from './settings.ts'
import { type TaskCall, toTaskRequestOptions } from './task-requests.ts'

/**
 * What a server notifies about one task. Listens with a new request whenever one ends (seps/2663-tasks-extension, task
 * status notifications). A permanent error ends that for good, because the task is also polled.
 */
export class TaskNotifications {
  readonly #controller = new AbortController()
  #isOpen = false
  #latestState: DetailedTask | undefined
  /** True if something has happened since the last read began. */
  #hasEvent = false
  #wakeReader = (): void => {}

  constructor(task: NotifiedTask, meta: JsonObject | undefined) {
    // `close` makes this promise reject.
    this.#listen(task, meta).catch(() => {})
  }

  /** True while the stream of notifications is open. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Takes the latest state since the previous call. Undefined if none has arrived: then a read begins. */
  takeState(): DetailedTask | undefined {
    const pendingState = this.#latestState
    this.#latestState = undefined
    this.#hasEvent = false
    return pendingState
  }

  /** Calls `wake` when the next state arrives, or the stream opens or ends. Only the function given last is called. */
  onNextEvent(wake: () => void): void {
    this.#wakeReader = wake
    // A stream that opens during a read is no proof that the read saw what happened before it opened.
    if (this.#hasEvent) wake()
  }

  #wake(): void {
    this.#hasEvent = true
    this.#wakeReader()
  }

  close(): void {
    this.#controller.abort(new DOMException('The task is no longer followed', 'AbortError'))
  }

  async #listen({ host, taskId, settings }: NotifiedTask, meta: JsonObject | undefined): Promise<void> {
    const { clock, random } = settings
    const { signal } = this.#controller
    let openedAt = 0
    const onNotification = createNotificationHandler(taskId, {
      onOpen: () => {
        this.#isOpen = true
        openedAt = clock.monotonicNow()
        this.#wake()
      },
      onChange: (state) => {
        this.#latestState = state
        this.#wake()
      },
    })
    const options = { ...toTaskRequestOptions({ signal, meta }), targetParam: undefined, onNotification }
    for (let endCount = 0; ; endCount += 1) {
      try {
        await host.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, options)
      } catch (error) {
        if (!isClientError(error) || isPermanent(error)) return
      } finally {
        // A stream that was open for a while resets the count of failures.
        if (this.#isOpen && clock.monotonicNow() - openedAt >= maxFailurePauseMs) endCount = 0
        if (this.#isOpen) this.#wake()
        this.#isOpen = false
      }
      await sleep(computeFailurePauseMs(endCount, random), { clock, signal })
    }
  }
}

type NotifiedTask = Pick<TaskCall, 'host' | 'taskId'> & { readonly settings: TasksClientSettings }

function createNotificationHandler(
  taskId: string,
  { onOpen, onChange }: { readonly onOpen: () => void; readonly onChange: (state: DetailedTask) => void },
): (message: RpcNotification, id: RequestId) => boolean {
  let openRequestId: RequestId | undefined
  return (message, id) => {
    const { method, params } = message
    if (subscriptionIdOf(message) !== id) return false
    if (method === 'notifications/subscriptions/acknowledged') {
      if (!isTaskAcknowledged(params, taskId)) throw new Error('the server does not notify of this task')
      openRequestId = id
      onOpen()
    } else if (method === 'notifications/tasks' && openRequestId === id) {
      const parsedNotification = parseTaskNotification(params, taskId)
      if ('value' in parsedNotification) onChange(parsedNotification.value)
    }
    return openRequestId === id
  }
}

function isTaskAcknowledged(params: JsonObject | undefined, taskId: string): boolean {
  const acknowledgedFilter = params?.['notifications']
  const ids = isJsonObject(acknowledgedFilter) ? acknowledgedFilter['taskIds'] : undefined
  return Array.isArray(ids) && ids.includes(taskId)
}
