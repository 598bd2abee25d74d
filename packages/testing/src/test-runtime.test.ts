import { expect, test, vi } from 'vitest'
import { testRuntime } from './index.ts'

test('timers fire in the order in which they are due, those of one moment as they were set', async () => {
  const runtime = testRuntime({ now: 0 })
  const fired: string[] = []
  const note = (name: string) => () => void fired.push(`${name}@${runtime.now()}`)
  runtime.setTimeout(note('c'), 30)
  runtime.setTimeout(note('a'), 10)
  runtime.setTimeout(note('b'), 10)
  const cleared = runtime.setTimeout(note('never'), 20)
  runtime.clearTimeout(cleared)
  await runtime.advance(29)
  expect(fired).toEqual(['a@10', 'b@10'])
  expect(runtime.waitingTimerCount).toBe(1)
  await runtime.advance(1)
  expect(fired.at(-1)).toBe('c@30')
})

test('a timer that a fired timer sets fires within the same advance', async () => {
  const runtime = testRuntime({ now: 0 })
  const times: number[] = []
  const sleep = (ms: number) => new Promise<void>((resolve) => void runtime.setTimeout(resolve, ms))
  const loop = (async () => {
    for (let count = 0; count < 3; count++) {
      await sleep(10)
      times.push(runtime.monotonicNow())
    }
  })()
  await runtime.advance(100)
  await loop
  expect(times).toEqual([10, 20, 30])
  expect(runtime.now()).toBe(100)
})

test('an hour of polls that find nothing waits for no real timer between them', async () => {
  const realTimeout = vi.spyOn(globalThis, 'setTimeout')
  try {
    vi.resetModules()
    const runtime = (await import('./test-runtime.ts')).testRuntime({ now: 0 })
    let pollCount = 0
    const poll = async (): Promise<void> => {
      pollCount += 1
      await Promise.resolve()
      runtime.setTimeout(() => void poll(), 500)
    }
    await poll()
    realTimeout.mockClear()
    await runtime.advance(3_600_000)
    expect(pollCount).toBe(7201)
    expect(realTimeout.mock.calls.length).toBeLessThan(10)
  } finally {
    realTimeout.mockRestore()
  }
})

test('time and UUIDs are the same in every test, or the ones that are given', () => {
  const [one, other] = [testRuntime(), testRuntime()]
  expect([one.now(), one.randomUuid(), one.randomUuid()]).toEqual([other.now(), other.randomUuid(), other.randomUuid()])
  expect(new Date(one.now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
  expect(one.randomUuid()).toBe('00000000-0000-4000-8000-000000000003')
  expect(testRuntime({ randomUuid: () => 'mine' }).randomUuid()).toBe('mine')
})

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('time does not move by %s', async (ms) => {
  const runtime = testRuntime({ now: 5 })
  await expect(runtime.advance(ms)).rejects.toThrow('milliseconds from 0')
  expect(runtime.now()).toBe(5)
})

test('time is moved beside the fake timers of a test runner', async () => {
  vi.useFakeTimers()
  try {
    const runtime = testRuntime({ now: 0 })
    const fired: number[] = []
    runtime.setTimeout(() => void fired.push(runtime.now()), 10)
    await runtime.advance(10)
    expect(fired).toEqual([10])
  } finally {
    vi.useRealTimers()
  }
})
