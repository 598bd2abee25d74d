import { expect, test, vi } from 'vitest'
import { Cancellation, isCancelled, offCancel, onCancel, withSignalOf } from './cancellation.ts'
import { raceWithCancellation } from './waiting.ts'

test('a signal is the same at each look, and keeps the first reason', () => {
  const cancellation = new Cancellation()
  const { signal } = cancellation
  cancellation.cancel('first')
  cancellation.cancel('second')
  expect(cancellation.signal).toBe(signal)
  expect([signal.aborted, signal.reason, cancellation.reason]).toEqual([true, 'first', 'first'])
})

test('a signal that was not read before the cancellation is aborted when it is read', () => {
  const cancellation = new Cancellation()
  cancellation.cancel('gone')
  expect([cancellation.signal.aborted, cancellation.signal.reason]).toEqual([true, 'gone'])
})

test('cancellations have signals of their own', () => {
  const [mine, other] = [new Cancellation(), new Cancellation()]
  mine.cancel('gone')
  expect([mine.signal.aborted, other.signal.aborted]).toEqual([true, false])
})

const makers = [
  [
    'a call with a cancellation',
    () => {
      const cancellation = new Cancellation()
      return { call: withSignalOf({}, cancellation), stop: (reason: unknown) => cancellation.cancel(reason) }
    },
  ],
  [
    'a call with the signal of another call',
    () => {
      const cancellation = new Cancellation()
      const call = withSignalOf({}, withSignalOf({}, cancellation))
      return { call, stop: (reason: unknown) => cancellation.cancel(reason) }
    },
  ],
  [
    'a cancellation',
    () => {
      const cancellation = new Cancellation()
      return { call: cancellation, stop: (reason: unknown) => cancellation.cancel(reason) }
    },
  ],
  [
    'a call with a signal of its own',
    () => {
      const controller = new AbortController()
      return { call: { signal: controller.signal }, stop: (reason: unknown) => controller.abort(reason) }
    },
  ],
  [
    'a copy of a call',
    () => {
      const cancellation = new Cancellation()
      return { call: { ...withSignalOf({}, cancellation) }, stop: (reason: unknown) => cancellation.cancel(reason) }
    },
  ],
  [
    'a copy of a call with another signal',
    () => {
      const controller = new AbortController()
      const call = { ...withSignalOf({}, new Cancellation()), signal: controller.signal }
      return { call, stop: (reason: unknown) => controller.abort(reason) }
    },
  ],
] as const

test.each(makers)('%s notifies each listener of the reason once', (_title, make) => {
  const { call, stop } = make()
  const [stays, leaves, unknown, late] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()]
  onCancel(call, stays)
  onCancel(call, leaves)
  offCancel(call, leaves)
  offCancel(call, unknown)
  expect(isCancelled(call)).toBe(false)
  stop('gone')
  stop('again')
  onCancel(call, late)
  expect([isCancelled(call), call.signal.aborted, call.signal.reason]).toEqual([true, true, 'gone'])
  expect([stays.mock.calls, leaves.mock.calls, late.mock.calls]).toEqual([[['gone']], [], [['gone']]])
})

test('a listener of a signal is notified of the reason once', () => {
  const controller = new AbortController()
  const [stays, leaves, late] = [vi.fn(), vi.fn(), vi.fn()]
  onCancel(controller.signal, stays)
  onCancel(controller.signal, leaves)
  offCancel(controller.signal, leaves)
  expect(isCancelled(controller.signal)).toBe(false)
  controller.abort('gone')
  onCancel(controller.signal, late)
  expect(isCancelled(controller.signal)).toBe(true)
  expect([stays.mock.calls, leaves.mock.calls, late.mock.calls]).toEqual([[['gone']], [], [['gone']]])
})

test('a listener that removes itself while listeners are notified changes nothing for the others', () => {
  const cancellation = new Cancellation()
  const call = withSignalOf({}, cancellation)
  const last = vi.fn()
  const first = (): void => offCancel(call, first)
  onCancel(call, first)
  onCancel(call, last)
  cancellation.cancel('gone')
  expect(last).toHaveBeenCalledOnce()
})

test('no signal is created for a call that is only observed', () => {
  const created = vi.spyOn(globalThis, 'AbortController')
  const cancellation = new Cancellation()
  const call = withSignalOf({}, withSignalOf({}, cancellation))
  const listener = vi.fn()
  onCancel(call, listener)
  offCancel(call, listener)
  onCancel(call, listener)
  cancellation.cancel('gone')
  expect([isCancelled(call), listener.mock.calls.length, created.mock.calls.length]).toEqual([true, 1, 0])
  created.mockRestore()
})

test.each(makers)('a wait for %s ends with its promise, or with the reason if that is first', async (_title, make) => {
  const kept = make()
  await expect(raceWithCancellation(Promise.resolve('done'), kept.call)).resolves.toBe('done')
  await expect(raceWithCancellation(Promise.reject(new Error('failed')), kept.call)).rejects.toThrow('failed')
  const waiting = raceWithCancellation(new Promise(() => {}), kept.call)
  kept.stop('gone')
  await expect(waiting).rejects.toBe('gone')
  await expect(raceWithCancellation(Promise.resolve('late'), kept.call)).rejects.toBe('gone')
  await expect(raceWithCancellation(Promise.reject(new Error('late')), kept.call)).rejects.toBe('gone')
})

test('a signal is read from its source when it is read first, and the object keeps its members', () => {
  const controller = new AbortController()
  let looks = 0
  const source = {
    get signal() {
      looks++
      return controller.signal
    },
  }
  const call = withSignalOf({ name: 'a' }, source)
  expect([call.name, looks]).toEqual(['a', 0])
  expect([call.signal, looks]).toEqual([controller.signal, 1])
})

test('a copy, and a member that was destructured, have the signal too', () => {
  const { signal } = new AbortController()
  const call = withSignalOf({ name: 'a' }, { signal })
  const { signal: taken } = call
  expect([taken, { ...call, name: 'b' }.signal, Object.keys(call)]).toEqual([signal, signal, ['name', 'signal']])
})
