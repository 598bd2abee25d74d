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

test('new points are added to the history, and repeated points after a reconnection are not duplicated', () => {
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

test('the history has at most two minutes', () => {
  const { receive, seconds } = open()
  for (let at = 1; at <= 130; at++) receive([{ at }])
  expect([seconds().length, seconds()[0]]).toEqual([120, 11])
})

test('the page is live while snapshots arrive', () => {
  const { session, receive, interrupt } = open()
  expect(session.isLive.value).toBe(false)
  receive([])
  expect(session.isLive.value).toBe(true)
  interrupt()
  expect(session.isLive.value).toBe(false)
})

test.each([
  ['done', async () => true, 'Instance 1 is killed'],
  ['rejected', async () => false, 'The command failed. Check that the server is running.'],
  [
    'without a response',
    () => Promise.reject(new TypeError('fetch failed')),
    'The command failed. Check that the server is running.',
  ],
])('a command is announced: %s', async (_, send, text) => {
  const { session } = open(send)
  await session.sendCommand({ kind: 'kill', instance: 1 }, 'Instance 1 is killed')
  expect(session.announcement.value).toBe(text)
})
