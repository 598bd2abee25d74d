import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import type { Connection, ConnectFunction } from './connection.ts'
import {
  BusSession,
  computeReconnectDelayMs,
  healthyAfterMs,
  maxReconnectDelayMs,
  minReconnectDelayMs,
} from './bus-session.ts'

/** One attempt to connect, whose outcome the test sets. */
interface Attempt {
  readonly onChange: Parameters<ConnectFunction>[0]
  readonly signal: AbortSignal
  readonly open: (ping?: Connection['ping']) => void
  readonly fail: (message: string) => void
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function startManualSession() {
  const clock = manualClock()
  const attempts: Attempt[] = []
  const events: string[] = []
  const session = new BusSession({
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
    onMessage: (text) => events.push(text),
    onGap: () => events.push('gap'),
    onError: (error) => events.push(String(error)),
    timeoutMs: 5_000,
    keepAliveMs: 10_000,
    clock,
    random: () => 1,
  })
  /** The attempt with this number, from 0. It must exist. */
  const attempt = (at: number): Attempt => {
    const found = attempts[at]
    if (!found) throw new Error(`there were ${attempts.length} attempts`)
    return found
  }
  const openFirst = async (ping?: Connection['ping']): Promise<Attempt> => {
    const opened = session.ensureOpen()
    attempt(0).open(ping)
    await opened
    return attempt(0)
  }
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await turn()
  }
  return { clock, attempts, attempt, events, session, openFirst, advance }
}

describe('a bus session', () => {
  test('several callers wait for one attempt, and all reject when it fails', async () => {
    const { session, attempts, attempt, events } = startManualSession()
    const all = Promise.allSettled([session.ensureOpen(), session.ensureOpen()])
    attempt(0).fail('refused')
    const reasons = (await all).map((one) => one.status === 'rejected' && String(one.reason))
    const reason = 'BusError: The wire cannot be reached: refused'
    expect([reasons, attempts.length, events]).toEqual([[reason, reason], 1, []])
  })

  test('after a failed first attempt there is no retry, and the next caller makes the next attempt', async () => {
    const { session, attempts, attempt, events, clock } = startManualSession()
    const first = session.ensureOpen()
    attempt(0).fail('refused')
    // The second call is made in the tick in which the failure is reported.
    const second = first.catch(() => session.ensureOpen())
    await turn()
    expect([attempts.length, attempt(0).signal.aborted]).toEqual([2, true])
    attempt(1).open()
    await second
    expect(events).toEqual([])
    session.close()
    await turn()
    expect(clock.waiting).toBe(0)
  })

  test('opening that exceeds its time limit rejects and is aborted, and a connection that arrives later is not used', async () => {
    const { session, attempt, events, clock } = startManualSession()
    const opened = session.ensureOpen()
    clock.advance(5_000)
    await expect(opened).rejects.toThrow('The wire did not answer within 5000 ms: is it running')
    expect(attempt(0).signal.aborted).toBe(true)
    attempt(0).open()
    await turn()
    expect([events, clock.waiting]).toEqual([[], 0])
  })

  test('a lost connection is closed at once and opened again after a pause, and the gap precedes its messages', async () => {
    const { openFirst, attempts, attempt, events, advance } = startManualSession()
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
    expect(events).toEqual(['before', 'BusError: The wire cannot be reached: reset', 'gap', 'after'])
  })

  test('the pause before an attempt grows with each failure, up to a limit', async () => {
    const { openFirst, attempts, attempt, advance, clock } = startManualSession()
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
    ['soon after it opens', 0, 1_000],
    ['after the healthy time', healthyAfterMs, 500],
  ])('a connection that breaks %s (%d ms) is opened again after %d ms', async (_, lastedMs, pause) => {
    const { openFirst, attempts, attempt, advance } = startManualSession()
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
    const { openFirst, session, attempts, attempt, events } = startManualSession()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    await turn()
    const wanted = session.ensureOpen()
    await turn()
    attempt(1).fail('refused')
    await expect(wanted).rejects.toThrow('The wire cannot be reached: refused')
    await turn()
    const opened = session.ensureOpen()
    await turn()
    attempt(2).open()
    await opened
    expect([attempts.length, events.at(-1)]).toEqual([3, 'gap'])
  })

  test('a caller in the tick in which the connection is lost starts an attempt without a pause', async () => {
    const { openFirst, session, attempts } = startManualSession()
    const { onChange } = await openFirst()
    onChange.handleLoss(new Error('reset'))
    void session.ensureOpen()
    await turn()
    expect(attempts).toHaveLength(2)
  })

  test('the connection is pinged at each keep-alive interval', async () => {
    const { openFirst, advance } = startManualSession()
    let pings = 0
    await openFirst(() => Promise.resolve(pings++))
    for (const expected of [0, 1, 2]) {
      expect(pings).toBe(expected)
      await advance(10_000)
    }
  })

  test.each([
    ['receives no answer', () => new Promise(() => {}), 'did not answer within 5000 ms'],
    ['fails', () => Promise.reject(new Error('reset')), 'cannot be reached: reset'],
  ])('a ping that %s ends the connection', async (_, ping, reason) => {
    const { openFirst, attempts, events, advance } = startManualSession()
    const { signal } = await openFirst(ping)
    await advance(10_000)
    await advance(5_000)
    expect([signal.aborted, events]).toEqual([true, [expect.stringContaining(reason)]])
    await advance(500)
    expect(attempts).toHaveLength(2)
  })

  test.each(['opening', 'open', 'pausing', 'opening again'] as const)(
    'a session that is closed while %s leaves no timer and no connection',
    async (state) => {
      const { session, attempts, attempt, advance, clock, events } = startManualSession()
      const opened = session.ensureOpen()
      opened.catch(() => {})
      if (state !== 'opening') attempt(0).open()
      await turn()
      if (state === 'pausing' || state === 'opening again') attempt(0).onChange.handleLoss(new Error('reset'))
      await turn()
      if (state === 'opening again') await advance(500)
      const before = attempts.length
      session.close()
      session.close()
      expect(attempts.every(({ signal }) => signal.aborted)).toBe(true)
      for (const { open } of attempts) open()
      await turn()
      expect(clock.waiting).toBe(0)
      await advance(100_000)
      expect([attempts.length, events.includes('gap')]).toEqual([before, false])
    },
  )

  test('a session that is opened again after a close reports no gap, because it had no listener', async () => {
    const { openFirst, session, attempt, events } = startManualSession()
    const first = await openFirst()
    session.close()
    const again = session.ensureOpen()
    attempt(1).open()
    await again
    first.onChange.handleMessage('of the first')
    attempt(1).onChange.handleMessage('of the second')
    expect(events).toEqual(['of the second'])
  })
})

describe('the pause before a connection is opened again', () => {
  test.each([
    [0, 250, 500],
    [1, 250, 1_000],
    [6, 250, 30_000],
    [2_000, 250, 30_000],
  ])('is from %d failures on between %d and %d ms', (failures, least, most) => {
    expect([computeReconnectDelayMs(failures, () => 0), computeReconnectDelayMs(failures, () => 1)]).toEqual([
      least,
      most,
    ])
    expect([minReconnectDelayMs, maxReconnectDelayMs]).toEqual([250, 30_000])
  })
})
