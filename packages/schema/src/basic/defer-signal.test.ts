import { expect, test } from 'vitest'
import { deferSignal } from '../index.ts'

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
