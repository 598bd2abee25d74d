import { type ClientExtensionHost, isClientError, isPermanent } from '@x/client'
import { isJsonObject, type JsonObject, metaKeys, type RequestId, type RpcNotification } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import { failurePause, longestPauseMs } from './poll-interval.ts'
import { readNotification } from './read-answers.ts'
import { sleep } from './sleep.ts'
import type { TasksClientSettings } from './settings.ts'
import { aboutTask } from './task-calls.ts'

/** The notifications of a server about one task. */
export interface TaskNotifications {
  /** True while the stream of notifications is open. */
  readonly isOpen: boolean
  /** The last that came and was not taken yet. */
  take(): DetailedTask | undefined
  /** Is called once, when something has come or the stream has opened or ended. */
  wakeBy(wake: () => void): void
  close(): void
}

/** The parameters of a subscription to a task. */
export interface Listening {
  readonly host: ClientExtensionHost
  readonly taskId: string
  readonly settings: TasksClientSettings
  readonly meta: JsonObject | undefined
}

/**
 * Listens for the states of a task, over one request after the other (seps/2663-tasks-extension, task status notifications). A server that
 * does not tell is not asked again: the task is polled in any case.
 */
export function openNotifications({ host, taskId, settings, meta }: Listening): TaskNotifications {
  const controller = new AbortController()
  const { signal } = controller
  const { clock, random } = settings
  let isOpen = false
  let openedAt = 0
  let latest: DetailedTask | undefined
  let wake = (): void => {}

  const onNotification = listenToTask(taskId, {
    opened: () => {
      isOpen = true
      openedAt = clock.now()
      wake()
    },
    changed: (state) => {
      latest = state
      wake()
    },
  })
  const listen = async (): Promise<void> => {
    const options = { ...aboutTask({ signal, meta }), named: undefined, onNotification }
    for (let ends = 0; ; ends += 1) {
      try {
        await host.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, options)
      } catch (error) {
        if (!isClientError(error) || isPermanent(error)) return
      } finally {
        // A stream that stood for a while is none of a row of failures.
        if (isOpen && clock.now() - openedAt >= longestPauseMs) ends = 0
        if (isOpen) wake()
        isOpen = false
      }
      await sleep(failurePause(ends, random), { clock, signal })
    }
  }
  // It ends with `close`, which rejects the waits in it.
  listen().catch(() => {})
  return {
    get isOpen() {
      return isOpen
    },
    take: () => {
      const taken = latest
      latest = undefined
      return taken
    },
    wakeBy: (next) => {
      wake = next
      // It may have come while nobody waited.
      if (latest !== undefined) next()
    },
    close: () => controller.abort(new DOMException('The task is not followed any more', 'AbortError')),
  }
}

interface Listener {
  readonly opened: () => void
  readonly changed: (state: DetailedTask) => void
}

/** Reads what comes on the stream of this request; what is not about the task is passed over. */
function listenToTask(
  taskId: string,
  { opened, changed }: Listener,
): (message: RpcNotification, id: RequestId) => boolean {
  let openId: RequestId | undefined
  return (message, id) => {
    const { method, params } = message
    if (subscriptionIdOf(message) !== id) return false
    if (method === 'notifications/subscriptions/acknowledged') {
      if (!isAccepted(params, taskId)) throw new Error('the server does not tell of this task')
      openId = id
      opened()
    } else if (method === 'notifications/tasks' && openId === id) {
      const read = readNotification(params, taskId)
      if ('value' in read) changed(read.value)
    }
    return openId === id
  }
}

function subscriptionIdOf({ params }: RpcNotification): unknown {
  const meta = params?.['_meta']
  return isJsonObject(meta) ? meta[metaKeys.subscriptionId] : undefined
}

function isAccepted(params: JsonObject | undefined, taskId: string): boolean {
  const accepted = params?.['notifications']
  const ids = isJsonObject(accepted) ? accepted['taskIds'] : undefined
  return Array.isArray(ids) && ids.includes(taskId)
}
