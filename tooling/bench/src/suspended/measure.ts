import { setImmediate } from 'node:timers/promises'
import { type RetainContext, suspendCalls, suspendingServer } from './calls.ts'

/** What the calls left behind. */
export interface Measured {
  readonly calls: number
  /**
   * Bytes that are in use on the heap after everything that can be collected was: before the calls, and again each time
   * that they were made.
   */
  readonly heaps: readonly number[]
  readonly callsPerSecond: number
}

/** Calls before the first look at the heap, so that compiled code and filled caches are not taken for a leak. */
const warmUp = 3000

/** How the calls are made. */
export interface MeasureOptions {
  readonly calls: number
  /** How often that many are made. */
  readonly times: number
  readonly retain?: RetainContext
}

/**
 * Suspends calls and looks at the heap before and after, so many times.
 *
 * @throws Error when Node was not started with `--expose-gc`, without which the heap says nothing.
 */
export async function measure({ calls, times, retain }: MeasureOptions): Promise<Measured> {
  const server = suspendingServer(retain)
  await suspendCalls(server, warmUp)
  const heaps = [await usedHeap()]
  let milliseconds = 0
  for (let time = 0; time < times; time += 1) {
    const start = performance.now()
    await suspendCalls(server, calls)
    milliseconds += performance.now() - start
    heaps.push(await usedHeap())
  }
  return { calls, heaps, callsPerSecond: (1000 * calls * times) / milliseconds }
}

async function usedHeap(): Promise<number> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('the heap can be looked at only with --expose-gc')
  for (let round = 0; round < 4; round += 1) {
    // Timers and what finalizers left have their turn before the next collection.
    await setImmediate()
    gc()
  }
  return process.memoryUsage().heapUsed
}
