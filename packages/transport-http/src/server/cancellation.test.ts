import { expect, test } from 'vitest'
import { abort, createCancellation, signalOf } from './cancellation.ts'

test('a signal is the same at each look, and keeps the first reason', () => {
  const cancellation = createCancellation()
  const signal = signalOf(cancellation)
  abort(cancellation, 'first')
  abort(cancellation, 'second')
  expect(signalOf(cancellation)).toBe(signal)
  expect([signal.aborted, signal.reason]).toEqual([true, 'first'])
})

test('a signal that nobody looked at before the abort is aborted when somebody does', () => {
  const cancellation = createCancellation()
  abort(cancellation, 'gone')
  expect([signalOf(cancellation).aborted, signalOf(cancellation).reason]).toEqual([true, 'gone'])
})

test('cancellations have signals of their own', () => {
  const [mine, other] = [createCancellation(), createCancellation()]
  abort(mine, 'gone')
  expect([signalOf(mine).aborted, signalOf(other).aborted]).toEqual([true, false])
})
