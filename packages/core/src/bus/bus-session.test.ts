import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import type { Connection, ConnectionHandlers } from './connection.ts'
import {
  computeReconnectDelayMs,
  createBusSession,
  healthyAfterMs,
  maxReconnectDelayMs,
  minReconnectDelayMs,
} from './bus-session.ts'

/** One attempt to connect, whose fate is in the test's hand. */
interface Attempt {
  readonly onChange: ConnectionHandlers
  readonly signal: AbortSignal
  readonly open: (ping?: Connection['ping']) => void
  readonly fail: (message: string) => void
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function lineInHand() {
  const clock = manualClock()
  const attempts: Attempt[] = []
  const told: string[] = []
  const line = createBusSession({
    name: 'The wire',
    connect: (onChange, signal) =>
      new Promise((resolve, reject) => {
        attempts.push({
          onChange,
          signal,
          open: (ping = () => Promise.resolve()) => resolve({ ping }),
          fail: (message) => reject(new Error(message)),
        })
      }),
    onMessage: (text) => told.push(text),
    onGap: () => told.push('gap'),
    onError: (error) => told.push(String(error)),
    timeoutMs: 5_000,
    keepAliveMs: 10_000,
    clock,
    random: () => 1,
  })
  /** The attempt with this number, from 0, which must be there. */
  const attempt = (at: number): Attempt => {
    const found = attempts[at]
    if (!found) throw new Error(`there were ${attempts.length} attempts`)
    return found
  }
  const openFirst = async (ping?: Connection['ping']): Promise<Attempt> => {
    const opened = line.ensureOpen()
    attempt(0).open(ping)
    await opened
    return attempt(0)
  }
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await turn()
  }
  return { clock, attempts, attempt, told, line, openFirst, advance }
}

describe('a line', () => {
  test('several callers wait for one attempt, and all reject when it fails', async () => {
    const { line, attempts, attempt, told } = lineInHand()
    const all = Promise.allSettled([line.ensureOpen(), line.ensureOpen()])
    attempt(0).fail('refused')
    const reasons = (await all).map((one) => one.status === 'rejected' && String(one.reason))
    const reason = 'BusError: The wire cannot be reached: refused'
    expect([reasons, attempts.length, told]).toEqual([[reason, reason], 1, []])
  })

  test('after a failed first attempt there is no retry, and the next caller makes the next attempt', async () => {
    const { line, attempts, attempt, told, clock } = lineInHand()
    const first = line.ensureOpen()
    attempt(0).fail('refused')
    // Asked again in the very turn in which the failure is told.
    const second = first.catch(() => line.ensureOpen())
    await turn()
    expect([attempts.length, attempt(0).signal.aborted]).toEqual([2, true])
    attempt(1).open()
    await second
    expect(told).toEqual([])
    line.close()
    await turn()
    expect(clock.waiting).toBe(0)
  })

  test('opening that takes too long rejects, is given up, and opens nothing when it ends after all', async () => {
    const { line, attempt, told, clock } = lineInHand()
    const opened = line.ensureOpen()
    clock.advance(5_000)
    await expect(opened).rejects.toThrow('The wire did not answer within 5000 ms: is it running')
    expect(attempt(0).signal.aborted).toBe(true)
    attempt(0).open()
    await turn()
    expect([told, clock.waiting]).toEqual([[], 0])
  })

  test('a connection that is lost is closed at once, and opened again after a pause; then comes the gap, and then messages', async () => {
    const { openFirst, attempts, attempt, told, advance } = lineInHand()
    const first = await openFirst()
    first.onChange.handleMessage('before')
    first.onChange.handleLoss(new Error('reset'))
    expect(first.signal.aborted).toBe(true)
    first.onChange.handleMessage('too late')
    first.onChange.handleLoss(new Error('closed'))
    await turn()
    await advance(499)
    expect(attempts).toHaveLength(1)
    await advance(1)
    attempt(1).open()
    await turn()
    attempt(1).onChange.handleMessage('after')
    expect(told).toEqual(['before', 'BusError: The wire cannot be reached: reset', 'gap', 'after'])
  })

  test('attempts that fail one after the other come at growing pauses, within a limit', async () => {
    const { openFirst, attempts, attempt, advance, clock } = lineInHand()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    await turn()
    const pauses: number[] = []
    for (let at = 1; at <= 9; at++) {
      const before = clock.monotonicNow()
      while (attempts.length === at) await advance(250)
      pauses.push(clock.monotonicNow() - before)
      attempt(at).fail('refused')
      await turn()
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  })

  test.each([
    ['as soon as it is there', 0, 1_000],
    ['after a long time', healthyAfterMs, 500],
  ])('a connection that breaks %s is opened again after the pause of its like', async (_, lastedMs, pause) => {
    const { openFirst, attempts, attempt, advance } = lineInHand()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    await turn()
    await advance(500)
    attempt(1).open()
    await turn()
    for (let passed = 0; passed < lastedMs; passed += 1_000) await advance(1_000)
    attempt(1).onChange.handleLoss(new Error('reset'))
    await turn()
    await advance(pause - 1)
    expect(attempts).toHaveLength(2)
    await advance(1)
    expect(attempts).toHaveLength(3)
  })

  test('a caller during a pause ends the pause, and rejects when the attempt fails', async () => {
    const { openFirst, line, attempts, attempt, told } = lineInHand()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    await turn()
    const wanted = line.ensureOpen()
    await turn()
    attempt(1).fail('refused')
    await expect(wanted).rejects.toThrow('The wire cannot be reached: refused')
    await turn()
    const opened = line.ensureOpen()
    await turn()
    attempt(2).open()
    await opened
    expect([attempts.length, told.at(-1)]).toEqual([3, 'gap'])
  })

  test('who wants it in the turn in which it is lost waits for no pause', async () => {
    const { openFirst, line, attempts } = lineInHand()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    void line.ensureOpen()
    await turn()
    expect(attempts).toHaveLength(2)
  })

  test('it is asked whether it is there each time it was silent so long', async () => {
    const { openFirst, advance } = lineInHand()
    let pings = 0
    await openFirst(() => Promise.resolve(pings++))
    for (const expected of [0, 1, 2]) {
      expect(pings).toBe(expected)
      await advance(10_000)
    }
  })

  test.each([
    ['is not answered', () => new Promise(() => {}), 'did not answer within 5000 ms'],
    ['fails', () => Promise.reject(new Error('gone')), 'cannot be reached: gone'],
  ])('a ping that %s ends the connection', async (_, ping, reason) => {
    const { openFirst, attempts, told, advance } = lineInHand()
    const { signal } = await openFirst(ping)
    await advance(10_000)
    await advance(5_000)
    expect([signal.aborted, told]).toEqual([true, [expect.stringContaining(reason)]])
    await advance(500)
    expect(attempts).toHaveLength(2)
  })

  test.each(['opening', 'open', 'pausing', 'opening again'] as const)(
    'closed while %s it leaves nothing',
    async (state) => {
      const { line, attempts, attempt, advance, clock, told } = lineInHand()
      const opened = line.ensureOpen()
      opened.catch(() => {})
      if (state !== 'opening') attempt(0).open()
      await turn()
      if (state === 'pausing' || state === 'opening again') attempt(0).onChange.handleLoss(new Error('reset'))
      await turn()
      if (state === 'opening again') await advance(500)
      const before = attempts.length
      line.close()
      line.close()
      expect(attempts.every(({ signal }) => signal.aborted)).toBe(true)
      for (const { open } of attempts) open()
      await turn()
      expect(clock.waiting).toBe(0)
      await advance(100_000)
      expect([attempts.length, told.includes('gap')]).toEqual([before, false])
    },
  )

  test('a session that is opened again after it was closed notifies of no gap, because it had no listener', async () => {
    const { openFirst, line, attempt, told } = lineInHand()
    const first = await openFirst()
    line.close()
    const again = line.ensureOpen()
    attempt(1).open()
    await again
    first.onChange.handleMessage('of the first')
    attempt(1).onChange.handleMessage('of the second')
    expect(told).toEqual(['of the second'])
  })
})

describe('the pause before a connection is opened again', () => {
  test.each([
    [0, 250, 500],
    [1, 250, 1_000],
    [6, 250, 30_000],
    [2_000, 250, 30_000],
  ])('after %d failures lies between %d and %d ms', (failures, least, most) => {
    expect([computeReconnectDelayMs(failures, () => 0), computeReconnectDelayMs(failures, () => 1)]).toEqual([
      least,
      most,
    ])
    expect([minReconnectDelayMs, maxReconnectDelayMs]).toEqual([250, 30_000])
  })
})
