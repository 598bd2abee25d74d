import { BoundedMap } from '@x/core'
import type { TaskHandle } from '@x/tasks/client'
import type { EventLog } from '../event-log.ts'
import type { Wire } from '../wire/wire.ts'

const maxTasks = 100

/** Tasks that calls of the page became. */
export class Tasks {
  readonly #log: EventLog
  readonly #wire: Wire
  readonly #handles = new BoundedMap<string, { readonly task: TaskHandle; readonly callId: number }>(maxTasks)

  constructor(log: EventLog, wire: Wire) {
    this.#log = log
    this.#wire = wire
  }

  /** Keeps a task of the call that runs. */
  add(task: TaskHandle): void {
    const { callId = 0 } = this.#wire
    this.#handles.set(task.taskId, { task, callId })
    this.#report(task, callId, 'working')
  }

  /** Asks the server for the state of a task, or cancels it first. Throws for a task that is not known. */
  async use(taskId: string, action: 'status' | 'cancel'): Promise<void> {
    const handle = this.#handles.get(taskId)
    if (handle === undefined) throw new Error('The task is no longer known')
    const { task, callId } = handle
    await this.#wire.run(callId, async () => {
      if (action === 'cancel') await task.cancel()
      const { status } = await task.status()
      this.#report(task, callId, status)
    })
  }

  #report({ taskId, tool }: TaskHandle, callId: number, status: string): void {
    this.#log.append({ type: 'task', task: { id: taskId, callId, tool, status } })
  }
}
