import { expect, test, vi } from 'vitest'
import {
  cancel,
  withCancellation,
  abortReasonOf,
  createCancellation,
  isCancelled,
  offCancel,
  onCancel,
  readSignal,
  raceWithCancellation,
} from './cancellation.ts'
import { deferSignal } from './index.ts'

test('a signal is the same at each look, and keeps the first reason', () => {
  const cancellation = createCancellation()
  const signal = readSignal(cancellation)
  cancel(cancellation, 'first')
  cancel(cancellation, 'second')
  expect(readSignal(cancellation)).toBe(signal)
  expect([signal.aborted, signal.reason]).toEqual([true, 'first'])
})

test('a signal that nobody looked at before is aborted when somebody does', () => {
  const cancellation = createCancellation()
  cancel(cancellation, 'gone')
  expect([readSignal(cancellation).aborted, readSignal(cancellation).reason]).toEqual([true, 'gone'])
})

test('cancellations have signals of their own', () => {
  const [mine, other] = [createCancellation(), createCancellation()]
  cancel(mine, 'gone')
  expect([readSignal(mine).aborted, readSignal(other).aborted]).toEqual([true, false])
})

const makers = [
  [
    'that a cancellation is behind',
    () => {
      const cancellation = createCancellation()
      return { call: withCancellation({}, cancellation), stop: (reason: unknown) => cancel(cancellation, reason) }
    },
  ],
  [
    'with a signal of its own',
    () => {
      const controller = new AbortController()
      return { call: { signal: controller.signal }, stop: (reason: unknown) => controller.abort(reason) }
    },
  ],
  [
    'that was copied',
    () => {
      const cancellation = createCancellation()
      return {
        call: { ...withCancellation({}, cancellation) },
        stop: (reason: unknown) => cancel(cancellation, reason),
      }
    },
  ],
  [
    'that was copied and given another signal',
    () => {
      const controller = new AbortController()
      const call = { ...withCancellation({}, createCancellation()), signal: controller.signal }
      return { call, stop: (reason: unknown) => controller.abort(reason) }
    },
  ],
] as const

test.each(makers)('a call %s tells when and why it is cancelled, once', (_title, make) => {
  const { call, stop } = make()
  const [stays, leaves, late] = [vi.fn(), vi.fn(), vi.fn()]
  onCancel(call, stays)
  onCancel(call, leaves)
  offCancel(call, leaves)
  offCancel(call, late)
  expect([isCancelled(call), abortReasonOf(call)]).toEqual([false, undefined])
  stop('gone')
  stop('again')
  expect([isCancelled(call), abortReasonOf(call)]).toEqual([true, 'gone'])
  expect([call.signal.aborted, call.signal.reason]).toEqual([true, 'gone'])
  expect([stays.mock.calls.length, leaves.mock.calls.length]).toEqual([1, 0])
})

test('a listener that takes another one back, or itself, while they are told, changes nothing for the rest', () => {
  const cancellation = createCancellation()
  const call = withCancellation({}, cancellation)
  const last = vi.fn()
  const first = (): void => offCancel(call, first)
  onCancel(call, first)
  onCancel(call, last)
  cancel(cancellation, 'gone')
  expect(last).toHaveBeenCalledOnce()
})

test('no signal is made for those who only listen', () => {
  const cancellation = createCancellation()
  const call = withCancellation({}, cancellation)
  onCancel(call, () => {})
  isCancelled(call)
  expect(cancellation.controller).toBeUndefined()
})

test.each(makers)(
  'a wait for a call %s ends with its promise, or with the reason when that comes first',
  async (_title, make) => {
    const kept = make()
    await expect(raceWithCancellation(Promise.resolve('done'), kept.call)).resolves.toBe('done')
    await expect(raceWithCancellation(Promise.reject(new Error('failed')), kept.call)).rejects.toThrow('failed')
    const waiting = raceWithCancellation(new Promise(() => {}), kept.call)
    kept.stop('gone')
    await expect(waiting).rejects.toBe('gone')
    await expect(raceWithCancellation(Promise.resolve('late'), kept.call)).rejects.toBe('gone')
  },
)

test('a signal is made at the first look, and the object keeps what it had', () => {
  const controller = new AbortController()
  let looks = 0
  const call = deferSignal({ name: 'a' }, () => {
    looks++
    return controller.signal
  })
  expect([call.name, looks]).toEqual(['a', 0])
  expect([call.signal, looks]).toEqual([controller.signal, 1])
})

test('a copy and parts taken out have the signal too', () => {
  const { signal } = new AbortController()
  const call = deferSignal({ name: 'a' }, () => signal)
  const { signal: taken } = call
  expect([taken, { ...call, name: 'b' }.signal, Object.keys(call)]).toEqual([signal, signal, ['name', 'signal']])
})
