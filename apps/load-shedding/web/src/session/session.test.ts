import { expect, test } from 'vitest'
import type { Point } from '../../../src/board/snapshot.ts'
import { type SnapshotListener, openSession } from './session.ts'

function open(isDone: () => Promise<boolean> = async () => true) {
  const listeners: SnapshotListener[] = []
  const session = openSession((listener) => listeners.push(listener), isDone)
  const receive = (points: readonly Partial<Point>[]) => listeners[0]?.onSnapshot(JSON.stringify({ points }))
  const interrupt = () => listeners[0]?.onInterrupt()
  return { session, receive, interrupt, seconds: () => session.points.value.map(({ at }) => at) }
}

test('seconds are added to the history, and those that come again after an interruption are not there twice', () => {
  const { receive, seconds } = open()
  receive([{ at: 1 }, { at: 2 }])
  receive([])
  receive([{ at: 3 }])
  expect(seconds()).toEqual([1, 2, 3])
  receive([{ at: 2 }, { at: 3 }, { at: 4 }])
  expect(seconds()).toEqual([1, 2, 3, 4])
  receive([{ at: 1 }])
  expect(seconds()).toEqual([1])
})

test('two minutes are kept', () => {
  const { receive, seconds } = open()
  for (let at = 1; at <= 130; at++) receive([{ at }])
  expect([seconds().length, seconds()[0]]).toEqual([120, 11])
})

test('the page is live while moments come', () => {
  const { session, receive, interrupt } = open()
  expect(session.isLive.value).toBe(false)
  receive([])
  expect(session.isLive.value).toBe(true)
  interrupt()
  expect(session.isLive.value).toBe(false)
})

test.each([
  ['done', async () => true, 'Instance 1 is killed'],
  ['refused', async () => false, 'That could not be done. Is the server still running?'],
  [
    'without an answer',
    () => Promise.reject(new TypeError('fetch failed')),
    'That could not be done. Is the server still running?',
  ],
])('shows the outcome of an action that is %s', async (_, send, words) => {
  const { session } = open(send)
  await session.sendCommand({ kind: 'kill', instance: 1 }, 'Instance 1 is killed')
  expect(session.announcement.value).toBe(words)
})
