import { isNight } from '@tooling/vitest/needs'
import { describe, expect, test } from 'vitest'
import type { SuspendedAnswer } from './testing/suspended.ts'
import { askBundled, bundledProgram, minGrowth, startBundled } from './testing/start-bundled.ts'

/**
 * The number of calls, and the growth of the heap for each of them without a leak. At night a leak of one empty object
 * per call is twice as large. For each change it is a leak of a context, which is sixty times as large.
 */
const [calls, noisePerCall] = isNight ? [10_000, 16] : [2000, 128]
const noiseBytes = noisePerCall * calls

describe('calls that ask and are never answered', () => {
  const program = bundledProgram('testing/suspended', 'calls')

  const grow = async (count: number, ...args: readonly string[]): Promise<number> => {
    const child = startBundled(program(), args)
    try {
      return minGrowth((await askBundled<SuspendedAnswer>(child, { calls: count, times: 3 })).heaps)
    } finally {
      child.kill('SIGKILL')
    }
  }

  test('leave no memory behind [MRT-016]', async () => {
    expect(await grow(calls)).toBeLessThan(noiseBytes)
  })

  test('show a leak of a tenth as many contexts', async () => {
    expect(await grow(calls / 10, 'leak')).toBeGreaterThan(noiseBytes)
  })
})
