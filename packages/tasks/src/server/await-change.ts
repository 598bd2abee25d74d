import { type Call, cancelReason, isCancelled, offCancel, onCancel } from '@x/schema'
import type { TaskRow } from '../engines/engine.ts'
import { unrefTimer } from './unref-timer.ts'
import type { TaskContext } from './task-context.ts'

/** The awaited task, and its owner. */
export interface Awaited {
  readonly id: string
  readonly call: Call
  readonly context: TaskContext
}

/**
 * Looks at a task until it is not worked on any more. Between two looks it waits for news, and for as long as clients should.
 * Rejects with the signal's reason when the call is cancelled, and with whatever a look rejects with.
 */
export async function awaitNews(look: () => Promise<TaskRow>, { id, call, context }: Awaited): Promise<TaskRow> {
  const { watch, settings } = context
  const row = await look()
  if (row.status !== 'working') return row
  const bell = createBell()
  const stop = await watch.follow(id, bell.ring)
  onCancel(call, bell.ring)
  try {
    for (;;) {
      // Also when it was cancelled before anybody listened for that.
      if (isCancelled(call)) throw cancelReason(call)
      const seen = await look()
      if (seen.status !== 'working') return seen
      const timer = unrefTimer(settings.clock, bell.ring, settings.pollIntervalMs)
      await bell.rung()
      settings.clock.clearTimeout(timer)
    }
  } finally {
    offCancel(call, bell.ring)
    stop()
  }
}

/** Something that may ring before anybody waits for it. */
function createBell(): { readonly ring: () => void; readonly rung: () => Promise<void> } {
  let hasRung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      hasRung = true
      wake?.()
    },
    rung: async () => {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      wake = undefined
      hasRung = false
    },
  }
}
