import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { manualClock } from '@tooling/vitest/manual-clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { platformRuntime } from './runtime.ts'
import { computeBackoffMs, maxTimerMs, openAbortScope, settlesWithin, sleep, withTimeout } from './waiting.ts'

const createTimeoutError = (): Error => new Error('late')
const never = new Promise<never>(() => {})

describe('A sleep', () => {
  test('resolves after its time and leaves no timer', async () => {
    const clock = manualClock()
    const slept = sleep(100, { clock, signal: new AbortController().signal })
    clock.advance(99)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    await slept
    expect(clock.waiting).toBe(0)
  })

  test('rejects with the reason of its signal, also of a signal that is already aborted', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const slept = sleep(100, { clock, signal: controller.signal })
    controller.abort('enough')
    await expect(slept).rejects.toBe('enough')
    await expect(sleep(100, { clock, signal: controller.signal })).rejects.toBe('enough')
    expect(clock.waiting).toBe(0)
  })

  test('resolves when it is ended early', async () => {
    const clock = manualClock()
    let wake = (): void => {}
    const slept = sleep(100, { clock, registerWake: (end) => (wake = end) })
    wake()
    await slept
    expect(clock.waiting).toBe(0)
  })
})

describe('A time limit', () => {
  test('aborts the signal of its operation, rejects at once, and leaves no timer', async () => {
    const clock = manualClock()
    let signal: AbortSignal | undefined
    const limited = withTimeout({ timeoutMs: 100, clock, createTimeoutError }, (ownSignal) => {
      signal = ownSignal
      return never
    })
    clock.advance(100)
    await expect(limited).rejects.toThrow('late')
    expect(signal?.aborted).toBe(true)
    expect(clock.waiting).toBe(0)
  })

  test('settles like an operation that ends in time', async () => {
    const clock = manualClock()
    expect(await withTimeout({ timeoutMs: 100, clock, createTimeoutError }, async () => 5)).toBe(5)
    const failed = withTimeout({ timeoutMs: 100, clock, createTimeoutError }, () => Promise.reject(new Error('failed')))
    await expect(failed).rejects.toThrow('failed')
    expect(clock.waiting).toBe(0)
  })

  test('rejects with the reason of the signal of its caller', async () => {
    const controller = new AbortController()
    const limited = withTimeout(
      { signal: controller.signal, timeoutMs: 100, clock: manualClock(), createTimeoutError },
      () => never,
    )
    controller.abort('left')
    await expect(limited).rejects.toBe('left')
  })

  test('beyond the maximum of timers is ignored', () => {
    const clock = manualClock()
    openAbortScope(undefined, { timeoutMs: maxTimerMs + 1, clock, createTimeoutError })
    openAbortScope(undefined, { timeoutMs: undefined, clock, createTimeoutError })
    expect(clock.waiting).toBe(0)
  })

  test('resolves to true if a promise settled in time, also if it rejected', async () => {
    const clock = manualClock()
    expect(await settlesWithin(Promise.reject(new Error('failed')), 100, clock)).toBe(true)
    const isSettled = settlesWithin(never, 100, clock)
    clock.advance(100)
    expect(await isSettled).toBe(false)
    expect(clock.waiting).toBe(0)
  })

  test('without an end uses the longest timer, because the platform ends a longer one at once', async () => {
    const clock = manualClock()
    const isSettled = settlesWithin(never, Number.POSITIVE_INFINITY, clock)
    clock.advance(maxTimerMs)
    expect(clock.waiting).toBe(0)
    expect(await isSettled).toBe(false)
  })
})

test('an answer that has arrived is read although the process was stopped beyond the time limit', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const socket = connect(Object(server.address()).port, '127.0.0.1')
  const peer = await accepted
  const read = async (): Promise<string> => String(await once(socket, 'data'))
  const limit = { timeoutMs: 20, clock: platformRuntime, createTimeoutError }
  const answer = withTimeout(limit, read)
  const isInTime = settlesWithin(read(), 20, platformRuntime)
  peer.write('late')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  expect([await answer, await isInTime]).toEqual(['late', true])
  await expect(withTimeout(limit, () => never)).rejects.toThrow('late')
  socket.destroy()
  peer.destroy()
})

describe('The pause before another attempt', () => {
  test.each([
    [0, 50, 5000, 0, 50],
    [1, 50, 5000, 0, 100],
    [0, 50, 5000, 1, 25],
    [6, 50, 5000, 0, 3200],
    [7, 50, 5000, 0, 5000],
    [9, 10, 20, 0, 20],
    [0, 0, 5000, 0.5, 0],
  ])(
    'after %j failures, from %j to %j ms, with the random number %j, is %j ms',
    (failures, firstMs, maxMs, random, ms) => {
      expect(computeBackoffMs(failures, { firstMs, maxMs }, () => random)).toBe(ms)
    },
  )

  test('is at most its bound and at least half of it', () => {
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.nat(10_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, maxMs, random) => {
          const ms = computeBackoffMs(failures, { firstMs: 50, maxMs }, () => random)
          const longestMs = Math.min(50 * 2 ** failures, maxMs)
          expect(ms).toBeLessThanOrEqual(longestMs)
          expect(ms).toBeGreaterThanOrEqual(longestMs / 2)
        },
      ),
    )
  })
})
