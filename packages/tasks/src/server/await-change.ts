import { sleep, isCancelled, onCancel, offCancel } from '@x/core'
import type { Call } from '@x/exchange'
import type { TaskRow } from '../engines/engine.ts'
import type { TaskContext } from './options.ts'

/**
 * Reads a task until its status is not `working`. Between two reads it waits for a change, at most for the poll
 * interval. Rejects with the abort reason when the call is cancelled, and with the error of a failed read.
 */
export async function awaitTaskNotWorking(
  read: () => Promise<TaskRow>,
  { id, call, context }: { readonly id: string; readonly call: Call; readonly context: TaskContext },
): Promise<TaskRow> {
  const { taskChanges, settings } = context
  const row = await read()
  if (row.status !== 'working') return row
  let isChanged = false
  let wake = (): void => {}
  const onChange = (): void => {
    isChanged = true
    wake()
  }
  const waitForChange = (resolve: () => void): void => {
    wake = resolve
    // The task may have changed during the read.
    if (isChanged) resolve()
  }
  const unfollow = await taskChanges.follow(id, onChange)
  onCancel(call, onChange)
  try {
    for (;;) {
      isChanged = false
      // The call may have been cancelled before the listener was added.
      if (isCancelled(call)) throw call.signal.reason
      const nextRow = await read()
      if (nextRow.status !== 'working') return nextRow
      const { clock, pollIntervalMs } = settings
      await sleep(pollIntervalMs, { clock, isBackground: true, registerWake: waitForChange })
    }
  } finally {
    offCancel(call, onChange)
    unfollow()
  }
}
