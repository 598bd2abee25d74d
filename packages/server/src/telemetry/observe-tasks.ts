import { type BatchObservableResult, metrics } from '@opentelemetry/api'
import { conventions } from '@x/exchange/internal'
import { scopeName } from './instruments.ts'

/** The number of tasks of one tool in one status, and the age of the oldest. */
export interface TaskCountView {
  readonly tool: string
  readonly status: string
  readonly count: number
  readonly oldestAgeMs: number
}

/** Counts the tasks in a store. Pass `server.tasks`, or the result of `taskAdmin` of `@x/tasks`. */
export interface TaskCounter {
  counts(): Promise<readonly TaskCountView[]>
}

/**
 * Records how many tasks there are and how old the oldest is, by tool and status, at each collection of metrics. Call
 * it in one process: every instance would report the same numbers of a shared store. Returns a function that stops.
 *
 * @example
 * const stop = observeTasks(server.tasks)
 */
export function observeTasks(tasks: TaskCounter): () => void {
  const meter = metrics.getMeter(scopeName)
  const count = meter.createObservableGauge(conventions.metrics.taskCount, { description: 'The number of tasks' })
  const age = meter.createObservableGauge(conventions.metrics.oldestTaskAge, {
    unit: 's',
    description: 'The age of the oldest task',
  })
  const observe = async (result: BatchObservableResult): Promise<void> => {
    for (const { tool, status, ...counted } of sumByStatus(await tasks.counts())) {
      const attributes = { [conventions.attributes.tool]: tool, [conventions.attributes.taskStatus]: status }
      result.observe(count, counted.count, attributes)
      result.observe(age, counted.oldestAgeMs / 1000, attributes)
    }
  }
  meter.addBatchObservableCallback(observe, [count, age])
  return () => meter.removeBatchObservableCallback(observe, [count, age])
}

function sumByStatus(counts: readonly TaskCountView[]): readonly TaskCountView[] {
  const sums = new Map<string, TaskCountView>()
  for (const { tool, status, count, oldestAgeMs } of counts) {
    const key = JSON.stringify([tool, status])
    const sum = sums.get(key)
    sums.set(key, {
      tool,
      status,
      count: count + (sum?.count ?? 0),
      oldestAgeMs: Math.max(oldestAgeMs, sum?.oldestAgeMs ?? 0),
    })
  }
  return [...sums.values()]
}
