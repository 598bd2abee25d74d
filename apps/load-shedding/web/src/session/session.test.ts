import { expect, test } from 'vitest'
import type { Point } from '../../../src/board/snapshot.ts'
import { type FeedListener, openSession } from './session.ts'

function open(isDone: () => Promise<boolean> = async () => true) {
  const listeners: FeedListener[] = []
  const session = openSession((listener) => listeners.push(listener), isDone)
  const tell = (points: readonly Partial<Point>[]) => listeners[0]?.moment(JSON.stringify({ points }))
  const interrupt = () => listeners[0]?.interrupted()
  return { session, tell, interrupt, seconds: () => session.points.value.map(({ at }) => at) }
}

test('seconds are added to the history, and those that come again after an interruption are not there twice', () => {
  const { tell, seconds } = open()
  tell([{ at: 1 }, { at: 2 }])
  tell([])
  tell([{ at: 3 }])
  expect(seconds()).toEqual([1, 2, 3])
  tell([{ at: 2 }, { at: 3 }, { at: 4 }])
  expect(seconds()).toEqual([1, 2, 3, 4])
  tell([{ at: 1 }])
  expect(seconds()).toEqual([1])
})

test('two minutes are kept', () => {
  const { tell, seconds } = open()
  for (let at = 1; at <= 130; at++) tell([{ at }])
  expect([seconds().length, seconds()[0]]).toEqual([120, 11])
})

test('the page is live while moments come', () => {
  const { session, tell, interrupt } = open()
  expect(session.isLive.value).toBe(false)
  tell([])
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
  await session.ask({ do: 'kill', instance: 1 }, 'Instance 1 is killed')
  expect(session.announcement.value).toBe(words)
})
