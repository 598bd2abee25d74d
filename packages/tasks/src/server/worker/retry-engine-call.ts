import { sleep } from '@x/core'
import type { TaskContext } from '../task-context.ts'

const firstPauseMs = 100
const longestPauseMs = 5000

/**
 * Does something with the engine until it succeeds: a database that is away for a moment must not cost a task what it
 * has done. It is safe to do it again, because every write is fenced. Undefined when it was given up.
 */
export async function retryEngineCall<T>(
  write: () => Promise<T>,
  abandonSignal: AbortSignal,
  context: TaskContext,
): Promise<T | undefined> {
  const { clock, onError } = context.settings
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await write()
    } catch (error) {
      onError(error)
      if (abandonSignal.aborted) return undefined
      await sleep(pauseMs, { clock, signal: abandonSignal, isBackground: true }).catch(() => {})
    }
  }
}
