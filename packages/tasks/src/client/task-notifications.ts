import { sleep } from '@x/core'
import { type ClientExtensionHost, isClientError, isPermanent } from '@x/client'
import { isJsonObject, type JsonObject, type RequestId, type RpcNotification } from '@x/schema'
import { subscriptionIdOf } from '@x/schema/internal'
import type { DetailedTask } from '../schema/task.ts'
import { parseTaskNotification } from './parse-results.ts'
import { computeFailurePauseMs, maxFailurePauseMs, type TasksClientSettings } from './settings.ts'
import { toTaskRequestOptions } from './task-requests.ts'

/** What a server notifies about one task. */
export interface TaskNotifications {
  /** True while the stream of notifications is open. */
  readonly isOpen: boolean
  /** Takes the latest state since the previous call. Undefined if none has arrived. */
  takeState(): DetailedTask | undefined
  /** Calls `wake` when the next state arrives, or the stream opens or ends. Only the function given last is called. */
  onNextEvent(wake: () => void): void
  close(): void
}

export interface NotificationContext {
  readonly host: ClientExtensionHost
  readonly taskId: string
  readonly settings: TasksClientSettings
  readonly meta: JsonObject | undefined
}

/**
 * Listens for a task's states, with a new request whenever one ends (seps/2663-tasks-extension, task status
 * notifications). A permanent error ends that for good, because the task is also polled.
 */
export function openNotifications({ host, taskId, settings, meta }: NotificationContext): TaskNotifications {
  const controller = new AbortController()
  const { signal } = controller
  const { clock, random } = settings
  let isOpen = false
  let openedAt = 0
  let latestState: DetailedTask | undefined
  let wake = (): void => {}

  const onNotification = createNotificationHandler(taskId, {
    onOpen: () => {
      isOpen = true
      openedAt = clock.monotonicNow()
      wake()
    },
    onChange: (state) => {
      latestState = state
      wake()
    },
  })
  const listen = async (): Promise<void> => {
    const options = { ...toTaskRequestOptions({ signal, meta }), targetParam: undefined, onNotification }
    for (let endCount = 0; ; endCount += 1) {
      try {
        await host.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, options)
      } catch (error) {
        if (!isClientError(error) || isPermanent(error)) return
      } finally {
        // A stream that was open for a while resets the count of failures.
        if (isOpen && clock.monotonicNow() - openedAt >= maxFailurePauseMs) endCount = 0
        if (isOpen) wake()
        isOpen = false
      }
      await sleep(computeFailurePauseMs(endCount, random), { clock, signal })
    }
  }
  // `close` makes this promise reject.
  listen().catch(() => {})
  return {
    get isOpen() {
      return isOpen
    },
    takeState: () => {
      const pendingState = latestState
      latestState = undefined
      return pendingState
    },
    onNextEvent: (wakeCallback) => {
      wake = wakeCallback
      // A state may have arrived before the call.
      if (latestState !== undefined) wakeCallback()
    },
    close: () => controller.abort(new DOMException('The task is no longer followed', 'AbortError')),
  }
}

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
