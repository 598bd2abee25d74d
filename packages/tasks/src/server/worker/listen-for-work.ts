import { sleep } from '@x/core'
import type { EngineListener } from '../../engines/engine.ts'
import type { TaskContext } from '../task-context.ts'

const firstPauseMs = 250
const longestPauseMs = 30_000

/**
 * Listens to the engine, again and again until that succeeds: an engine that is away when this instance begins must not
 * leave it without news for good. Of an outage `onError` is told once, for the worker looks by itself meanwhile, and
 * tells what it meets. Resolves with the function that ends it, or with undefined when the signal aborts before.
 */
export async function listenForWork(
  listener: EngineListener,
  signal: AbortSignal,
  context: TaskContext,
): Promise<(() => void) | undefined> {
  const { clock, engine, onError } = context.settings
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const stop = await engine.listen(listener)
      // Tasks may have become ready while nobody listened.
      if (pauseMs > firstPauseMs) listener.onWork()
      return stop
    } catch (error) {
      if (pauseMs === firstPauseMs) onError(error)
      await sleep(pauseMs, { clock, signal, isBackground: true }).catch(() => {})
    }
  }
  return undefined
}
