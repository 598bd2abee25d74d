import { memoryEngine } from '@x/tasks/memory'
import { type TaskObservations, watchEngine } from '../invariants/watched-engine.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { type Restorable, restorableEngine } from './restorable.ts'
import type { TaskEngine } from '@x/tasks'

/** The lease of a task in milliseconds, at the pace of seconds. */
const leaseMs = 3000

/** An engine whose tasks are observed, and return to an earlier state together with what was observed of them. */
export interface WatchedTasks extends Restorable<TaskEngine> {
  readonly observations: TaskObservations
}

export function createWatchedTasks({ time, trace, report, pace }: SimulationContext): WatchedTasks {
  // Writes that are repeated for an earlier state were reported when they happened.
  let isRepeating = false
  let observations: TaskObservations = { endedAt: new Map(), ids: [] }
  const { service, returnTo } = restorableEngine((wallClock) => {
    const watched = watchEngine({
      engine: memoryEngine({ leaseMs: leaseMs * pace, wallClock }),
      report: (...violation) => void (isRepeating || report(...violation)),
      trace: { ...trace, add: (...line) => void (isRepeating || trace.add(...line)) },
      now: time.now,
    })
    observations = watched.observations
    return watched.engine
  })
  return {
    service,
    get observations() {
      return observations
    },
    async returnTo(earlier) {
      isRepeating = true
      await returnTo(earlier)
      isRepeating = false
    },
  }
}
