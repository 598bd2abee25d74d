import { isNight } from '@tooling/vitest/needs'
import { describe, expect, test } from 'vitest'
import { load, type Work } from './testing/memory.ts'
import type { Usage } from './processes.ts'
import { askBundled, bundledProgram, minGrowth, startBundled } from './testing/start-bundled.ts'

/** The numbers of calls: before the first measurement of the heap, to compile code, and between two measurements. */
interface Amount {
  readonly warmUp: number
  readonly count: number
}

/** The number of repetitions. Each one ends with a measurement of the heap. */
const times = 3

/**
 * The number of requests, and the growth of the heap for each of them without a leak. At night a leak of one empty object
 * per request is twice as large. For each change it is a leak of a call, which is fifteen times as large.
 */
const [requests, noisePerRequest] = isNight ? [10_000, 16] : [1000, 512]
const requestNoise = noisePerRequest * requests
const requestLeak = isNight ? 'leak-objects' : 'leak-calls'

/** The growth with new sockets is larger. A leaked stream retains fifteen times as much. */
const streams = isNight ? 1000 : 300
const streamNoise = 512 * streams

const dropped = [
  ['subscriptions', 'subscriptions'],
  ['calls with progress', 'progress'],
] as const

describe('the heap of an HTTP server', () => {
  const program = bundledProgram('testing/memory', 'server')

  /** Returns the smallest growth of the heap of a server over the repetitions of a workload, in bytes. */
  const grow = async (work: Work, { warmUp, count }: Amount, leak = 'no-leak'): Promise<number> => {
    const child = startBundled(program(), [leak])
    try {
      const { url } = await askBundled<Usage>(child, 'usage')
      await load({ url, work, count: warmUp })
      const heaps = [(await askBundled<Usage>(child, 'idle memory')).heapBytes]
      for (let time = 0; time < times; time += 1) {
        await load({ url, work, count })
        heaps.push((await askBundled<Usage>(child, 'idle memory')).heapBytes)
      }
      return minGrowth(heaps)
    } finally {
      child.kill('SIGKILL')
    }
  }

  test('does not grow with many requests', async () => {
    const warmUp = Math.max(requests, 2000)
    expect(await grow('requests', { warmUp, count: requests })).toBeLessThan(requestNoise)
  })

  test('shows a leak in half as many requests', async () => {
    const bytes = await grow('requests', { warmUp: 1000, count: requests / 2 }, requestLeak)
    expect(bytes).toBeGreaterThan(requestNoise)
  })

  test.each(dropped)('does not grow with many %s whose clients disconnect', async (_title, work) => {
    expect(await grow(work, { warmUp: streams, count: streams })).toBeLessThan(streamNoise)
  })

  test.each(dropped)('shows a leak of a quarter of the %s', async (_title, work) => {
    expect(await grow(work, { warmUp: 200, count: streams / 4 }, 'leak-calls')).toBeGreaterThan(streamNoise)
  })
})
