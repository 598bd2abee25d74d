/**
 * Parts of a server that run on Node alone.
 *
 * @module @x/server/node
 */

import { channel } from 'node:diagnostics_channel'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ServerExtension } from '@x/exchange'
import type { Load } from './shedding/shedding-options.ts'

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

/**
 * Publishes a server's events to `node:diagnostics_channel`. A channel is named `x:` and the type of the event, such as
 * `x:run`, and its messages are `ServerEvent` objects of `@x/exchange`. An event's `call` has the principal with its
 * claims, so log members and not the whole event.
 *
 * @example
 * const server = createServer({ ...definition, extensions: [diagnostics()] })
 * subscribe('x:state_rejected', (event) => …)
 */
export function diagnostics(): ServerExtension<'diagnostics'> {
  return {
    extends: 'server',
    name: 'diagnostics',
    start: () => ({ observe: (event) => channel(`x:${event.type}`).publish(event) }),
  }
}
