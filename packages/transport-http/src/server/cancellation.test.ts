import { expect, test } from 'vitest'
import { abort, createCancellation, withSignal } from './cancellation.ts'

const parts = { principal: { subject: 'alice' }, mirrored: undefined, notify: () => {} }

test('a call looks like one whose signal was there all along, to whoever copies it too', () => {
  const cancellation = createCancellation()
  const call = withSignal(parts, cancellation)
  const copy = { ...call, principal: { subject: 'bob' } }
  expect(Object.keys(call)).toEqual(['principal', 'mirrored', 'notify', 'signal'])
  expect([copy.signal, call.signal]).toEqual([call.signal, call.signal])
  expect(copy.signal).toBe(call.signal)
  abort(cancellation, 'first')
  abort(cancellation, 'second')
  expect([copy.signal.aborted, copy.signal.reason]).toEqual([true, 'first'])
})

test('calls have signals of their own', () => {
  const [mine, other] = [createCancellation(), createCancellation()]
  const [call, untouched] = [withSignal(parts, mine), withSignal(parts, other)]
  abort(mine, 'gone')
  expect([call.signal.aborted, untouched.signal.aborted]).toEqual([true, false])
})
