import { expect, test } from 'vitest'
import { readMessage, readOrder } from './instance-message.ts'

test.each([
  { kind: 'listening', pid: 1 },
  { kind: 'load', eventLoopDelayMs: 1.5, running: 0, isReady: false },
  { kind: 'begin', call: 'a', limit: 10, next: 2 },
  { kind: 'work', call: 'a', from: 2, next: 10 },
  { kind: 'end', call: 'a' },
  { kind: 'paced', chunks: 10, busyMs: 57.5 },
])('$kind is understood', (message) => {
  expect(readMessage(message)).toEqual(message)
})

test.each([
  undefined,
  null,
  'listening',
  {},
  { kind: 'ended' },
  { kind: 'end', call: 'x'.repeat(65) },
  { kind: 'work' },
])('the message %j is none', (message) => {
  expect(readMessage(message)).toBeUndefined()
})

test.each([
  [{ order: 'throttle', share: 0.9 }, true],
  [{ order: 'shedding', on: false }, true],
  [{ order: 'throttle', share: 1 }, false],
  [{ order: 'stop' }, false],
  [undefined, false],
])('whether %j is an order is %j', (order, isOrder) => {
  expect(readOrder(order)).toEqual(isOrder ? order : undefined)
})
