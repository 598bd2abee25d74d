import type { TaskEngine } from './engine.ts'
import { forwardCalls } from './lazy-engine.ts'

/** Reports how each call of an engine ends. */
export function observeEngine(
  engine: TaskEngine,
  { onAnswer, onFailure }: { readonly onAnswer: () => void; readonly onFailure: (error: unknown) => void },
): TaskEngine {
  return {
    leaseMs: engine.leaseMs,
    notifications: engine.notifications,
    ...forwardCalls(async (call) => {
      try {
        const value = await call(engine)
        onAnswer()
        return value
      } catch (error) {
        onFailure(error)
        throw error
      }
    }),
    close: () => engine.close(),
  }
}
