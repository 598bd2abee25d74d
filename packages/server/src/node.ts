/**
 * Parts of a server that run on Node alone.
 *
 * @module @x/server/node
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Load } from './shedding/shedding-options.ts'

export { diagnostics } from './telemetry/diagnostics.ts'

const histogramResolutionMs = 10
const idleTimeoutMs = 2000

/**
 * Measures the event loop's delay, with Node's histogram, and the use of the heap: `createServer({ shedding: { load:
 * measureLoad() } })`. Each call covers the time since the previous one. The measurement stops when there are no calls
 * for some time, and does not keep the process alive.
 */
export function measureLoad(): () => Omit<Load, 'running'> {
  const histogram = monitorEventLoopDelay({ resolution: histogramResolutionMs })
  // oxlint-disable-next-line no-restricted-globals -- ends the histogram of Node, which counts in real time
  const idleTimer = setTimeout(() => histogram.disable(), idleTimeoutMs).unref()
  return () => {
    idleTimer.refresh()
    // `enable` returns false if the histogram is already enabled.
    const isFirstSample = histogram.enable()
    const { mean } = histogram
    histogram.reset()
    // Node records the time between two samples. If nothing is late, that time is the resolution.
    const eventLoopDelayMs = isFirstSample || Number.isNaN(mean) ? 0 : Math.max(0, mean / 1e6 - histogramResolutionMs)
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    return { eventLoopDelayMs, heapShare: used_heap_size / heap_size_limit }
  }
}
