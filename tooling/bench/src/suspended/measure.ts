import { setImmediate } from 'node:timers/promises'
import { type RetainContext, suspendCalls, suspendingServer } from './calls.ts'

/** The memory before and after the calls. */
export interface Measured {
  readonly calls: number
  /** Bytes of heap in use after full collections: before the calls, and after each repetition of them. */
  readonly heaps: readonly number[]
  readonly callsPerSecond: number
}

/** Calls before the first measurement of the heap, so that compiled code and filled caches do not look like a leak. */
const warmUp = 3000

/** The options of a measurement. */
export interface MeasureOptions {
  readonly calls: number
  /** The number of repetitions. */
  readonly times: number
  readonly retain?: RetainContext
}

/**
 * Suspends calls repeatedly, and measures the heap before and after each repetition.
 *
 * @throws Error when Node runs without `--expose-gc`, because the heap would include garbage.
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
  await collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Returns the bytes of the heap in use and of memory outside of it that belongs to objects. */
export async function usedMemory(): Promise<number> {
  await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function collectGarbage(): Promise<void> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('a measurement of the heap needs --expose-gc')
  for (let round = 0; round < 4; round += 1) {
    // Timers and the callbacks of finalizers run before the next collection.
    await setImmediate()
    gc()
  }
}
