import { expect, test } from 'vitest'
import { measureLoad } from './node.ts'

test('a loop that is held up shows in the next reading, and the heap is a share', async () => {
  const load = measureLoad()
  expect(load().eventLoopDelayMs).toBe(0)
  let delay = 0
  // The histogram needs a turn before the block and one after it; how many is the platform's affair.
  for (let count = 0; count < 50 && delay < 50; count++) {
    await new Promise((resolve) => setTimeout(resolve, 15))
    const end = performance.now() + 150
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 15))
    delay = load().eventLoopDelayMs
  }
  expect(delay).toBeGreaterThanOrEqual(50)
  const { heapShare } = load()
  expect(heapShare).toBeGreaterThan(0)
  expect(heapShare).toBeLessThan(1)
})

test('two readings in a row know of no delay between them', () => {
  const load = measureLoad()
  load()
  expect([load().eventLoopDelayMs, load().eventLoopDelayMs]).toEqual([0, 0])
})

test('nothing keeps the process alive', () => {
  const before = process.getActiveResourcesInfo()
  const load = measureLoad()
  load()
  expect(process.getActiveResourcesInfo()).toEqual(before)
})
