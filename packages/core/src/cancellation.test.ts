import { expect, test, vi } from 'vitest'
import { Cancellation, isCancelled, offCancel, onCancel, withSignalOf } from './cancellation.ts'
import { raceWithCancellation } from './waiting.ts'

test('each read of a signal returns the same object, which has the first reason', () => {
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

test('each cancellation has a separate signal', () => {
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
    'a call with its own signal',
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
  const [remaining, removed, unknown, late] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()]
  onCancel(call, remaining)
  onCancel(call, removed)
  offCancel(call, removed)
  offCancel(call, unknown)
  expect(isCancelled(call)).toBe(false)
  stop('gone')
  stop('again')
  onCancel(call, late)
  expect([isCancelled(call), call.signal.aborted, call.signal.reason]).toEqual([true, true, 'gone'])
  expect([remaining.mock.calls, removed.mock.calls, late.mock.calls]).toEqual([[['gone']], [], [['gone']]])
})

test('a listener of a signal is notified of the reason once', () => {
  const controller = new AbortController()
  const [remaining, removed, late] = [vi.fn(), vi.fn(), vi.fn()]
  onCancel(controller.signal, remaining)
  onCancel(controller.signal, removed)
  offCancel(controller.signal, removed)
  expect(isCancelled(controller.signal)).toBe(false)
  controller.abort('gone')
  onCancel(controller.signal, late)
  expect(isCancelled(controller.signal)).toBe(true)
  expect([remaining.mock.calls, removed.mock.calls, late.mock.calls]).toEqual([[['gone']], [], [['gone']]])
})

test('a listener that removes itself during a notification does not affect the other listeners', () => {
  const cancellation = new Cancellation()
  const call = withSignalOf({}, cancellation)
  const last = vi.fn()
  const first = (): void => offCancel(call, first)
  onCancel(call, first)
  onCancel(call, last)
  cancellation.cancel('gone')
  expect(last).toHaveBeenCalledOnce()
})

test('no signal is created for a call that has only cancellation listeners', () => {
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

test.each(makers)(
  'a wait for %s settles with its promise, or with the reason if the cancellation is first',
  async (_title, make) => {
    const observed = make()
    await expect(raceWithCancellation(Promise.resolve('done'), observed.call)).resolves.toBe('done')
    await expect(raceWithCancellation(Promise.reject(new Error('failed')), observed.call)).rejects.toThrow('failed')
    const waiting = raceWithCancellation(new Promise(() => {}), observed.call)
    observed.stop('gone')
    await expect(waiting).rejects.toBe('gone')
    await expect(raceWithCancellation(Promise.resolve('late'), observed.call)).rejects.toBe('gone')
    await expect(raceWithCancellation(Promise.reject(new Error('late')), observed.call)).rejects.toBe('gone')
  },
)

test('the first read of a signal reads it from its source, and the object keeps its members', () => {
  const controller = new AbortController()
  let reads = 0
  const source = {
    get signal() {
      reads++
      return controller.signal
    },
  }
  const call = withSignalOf({ name: 'a' }, source)
  expect([call.name, reads]).toEqual(['a', 0])
  expect([call.signal, reads]).toEqual([controller.signal, 1])
})

test('a copy and a destructured member have the signal too', () => {
  const { signal } = new AbortController()
  const call = withSignalOf({ name: 'a' }, { signal })
  const { signal: taken } = call
  expect([taken, { ...call, name: 'b' }.signal, Object.keys(call)]).toEqual([signal, signal, ['name', 'signal']])
})
