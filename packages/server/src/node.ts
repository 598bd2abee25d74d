/**
 * Parts of a server that need Node.
 *
 * @module @x/server/node
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Load } from './shedding/shedding-options.ts'

const histogramResolutionMs = 10
const idleTimeoutMs = 2000

/**
 * Measures the event loop's delay with Node's own histogram, and the heap: `createServer({ shedding: { load:
 * measureLoad() } })`. Each reading covers the time since the one before. Nothing is measured while there are no
 * readings, and nothing keeps the process alive.
 */
export function measureLoad(): () => Omit<Load, 'running'> {
  const histogram = monitorEventLoopDelay({ resolution: histogramResolutionMs })
  const idleTimer = setTimeout(() => histogram.disable(), idleTimeoutMs).unref()
  return () => {
    idleTimer.refresh()
    // False when it measures already.
    const isFirstSample = histogram.enable()
    const { mean } = histogram
    histogram.reset()
    // The histogram records the time between two samples, which is the resolution when nothing is late.
    const eventLoopDelayMs = isFirstSample || Number.isNaN(mean) ? 0 : Math.max(0, mean / 1e6 - histogramResolutionMs)
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    return { eventLoopDelayMs, heapShare: used_heap_size / heap_size_limit }
  }
}
