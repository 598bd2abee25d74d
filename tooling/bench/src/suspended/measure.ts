import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Keep, suspendCalls, suspendingServer } from './calls.ts'

/** What the calls left behind. */
export interface Measured {
  readonly calls: number
  /** Bytes that are in use on the heap after everything that can be collected was. */
  readonly before: number
  readonly after: number
  readonly callsPerSecond: number
}

/** Calls before the first look at the heap, so that compiled code and filled caches are not taken for a leak. */
const warmUp = 3000

/**
 * Suspends calls and looks at the heap before and after.
 *
 * @throws Error when Node was not started with `--expose-gc`, without which the heap says nothing.
 */
export async function measure(calls: number, keep?: Keep): Promise<Measured> {
  const server = suspendingServer(keep)
  await suspendCalls(server, warmUp)
  const before = await usedHeap()
  const start = performance.now()
  await suspendCalls(server, calls)
  const seconds = (performance.now() - start) / 1000
  const after = await usedHeap()
  return { calls, before, after, callsPerSecond: calls / seconds }
}

async function usedHeap(): Promise<number> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('the heap can be looked at only with --expose-gc')
  for (let round = 0; round < 4; round += 1) {
    // Timers and what finalizers left have their turn before the next collection.
    await nextTurn()
    gc()
  }
  return process.memoryUsage().heapUsed
}
