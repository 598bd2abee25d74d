import { abortReasonOf, isCancelled, offCancel, onCancel, startBackgroundTimer } from '@x/core'
import type { Call } from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import type { TaskContext } from './options.ts'

/** The awaited task, and its owner. */
export interface AwaitedTask {
  readonly id: string
  readonly call: Call
  readonly context: TaskContext
}

/**
 * Reads a task until it is not `working` any more. Between two reads it waits for a change, at most for the poll
 * interval. Rejects with the signal's reason when the call is cancelled, and with the error of a read.
 */
export async function awaitTaskNotWorking(
  read: () => Promise<TaskRow>,
  { id, call, context }: AwaitedTask,
): Promise<TaskRow> {
  const { taskChanges, settings } = context
  const row = await read()
  if (row.status !== 'working') return row
  const changeSignal = createChangeSignal()
  const unfollow = await taskChanges.follow(id, changeSignal.signal)
  onCancel(call, changeSignal.signal)
  try {
    for (;;) {
      // It may have been cancelled before the listener was added.
      if (isCancelled(call)) throw abortReasonOf(call)
      const nextRow = await read()
      if (nextRow.status !== 'working') return nextRow
      const timer = startBackgroundTimer(settings.clock, changeSignal.signal, settings.pollIntervalMs)
      await changeSignal.waitForSignal()
      settings.clock.clearTimeout(timer)
    }
  } finally {
    offCancel(call, changeSignal.signal)
    unfollow()
  }
}

/** A signal that may come before the wait for it. */
function createChangeSignal(): { readonly signal: () => void; readonly waitForSignal: () => Promise<void> } {
  let isSignalled = false
  let resolveWait: (() => void) | undefined
  return {
    signal: () => {
      isSignalled = true
      resolveWait?.()
    },
    waitForSignal: async () => {
      if (!isSignalled) {
        await new Promise<void>((resolve) => {
          resolveWait = resolve
        })
      }
      resolveWait = undefined
      isSignalled = false
    },
  }
}
