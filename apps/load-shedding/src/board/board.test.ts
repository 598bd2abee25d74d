import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { Board } from './board.ts'

function openBoard() {
  const clock = manualClock()
  const board = new Board(2, clock.monotonicNow)
  const begin = (call: string, instance: number, next = 2) =>
    board.receiveMessage(instance, { kind: 'begin', call, limit: 100, next })
  const work = (call: string, instance: number, from: number) =>
    board.receiveMessage(instance, { kind: 'work', call, from, next: from + 10 })
  const end = (call: string, instance: number) => board.receiveMessage(instance, { kind: 'end', call })
  const view = (call: string) => board.calls().find((one) => one.call === call)
  return { clock, board, begin, work, end, view }
}

test('a call moves from its client to an instance, back to the client, to another instance, and completes', () => {
  const { board, clock, begin, work, end, view } = openBoard()
  board.recordSent('a', 'heavy')
  expect(view('a')).toMatchObject({ instance: 0, origin: 0, progress: 0, moves: 0, state: 'open' })
  begin('a', 1)
  work('a', 1, 40)
  expect(view('a')).toMatchObject({ instance: 1, origin: 1, progress: 0.5 })
  end('a', 1)
  board.recordMoved('a')
  expect(view('a')).toMatchObject({ instance: 0, origin: 1, progress: 0.5, moves: 1 })
  expect(board.lanes().map(({ moved }) => moved)).toEqual([1, 0])
  begin('a', 2, 50)
  expect(view('a')).toMatchObject({ instance: 2, origin: 1, moves: 1 })
  clock.advance(250)
  board.recordCompleted('a', true)
  expect(view('a')).toMatchObject({ instance: 2, progress: 1, state: 'done' })
  expect(board.completions().map(({ latencyMs }) => latencyMs)).toEqual([250])
  clock.advance(1000)
  expect(view('a')).toBeUndefined()
  expect(board.totals()).toEqual({ completed: 1, lost: 0, wrong: 0, moved: 1, chunks: 1, repeated: 0 })
})

test('a late message about a call that another instance has continued is ignored', () => {
  const { board, begin, work, end, view } = openBoard()
  board.recordSent('a', 'light')
  begin('a', 1)
  begin('a', 2)
  work('a', 1, 80)
  end('a', 1)
  expect(view('a')).toMatchObject({ instance: 2, progress: 0.02 })
})

test('a lost attempt is shown at its instance, and repeated chunks are counted', () => {
  const { board, begin, work } = openBoard()
  board.recordSent('a', 'light')
  begin('a', 1)
  work('a', 1, 2)
  work('a', 1, 12)
  board.recordLost('a')
  const [open, endedCall] = board.calls()
  expect(open).toMatchObject({ call: 'a', instance: 0, origin: 0, progress: 0, state: 'open' })
  expect(endedCall).toMatchObject({ instance: 1, state: 'lost' })
  begin('a', 2)
  work('a', 2, 2)
  work('a', 2, 12)
  work('a', 2, 22)
  board.recordCompleted('a', true)
  expect(board.totals()).toMatchObject({ completed: 1, lost: 1, chunks: 5, repeated: 2 })
})

test('a wrong result is counted separately', () => {
  const { board } = openBoard()
  board.recordSent('a', 'light')
  board.recordCompleted('a', false)
  expect(board.totals()).toMatchObject({ completed: 0, wrong: 1 })
})

test('a stopped instance has no delay and no process', () => {
  const { board } = openBoard()
  board.setStatus(1, 'ready', false)
  board.receiveMessage(1, { kind: 'listening', pid: 7 })
  board.receiveMessage(1, { kind: 'load', eventLoopDelayMs: 31.4, running: 2, isReady: true })
  expect(board.lanes()[0]).toMatchObject({ status: 'ready', pid: 7, eventLoopDelayMs: 31.4, isReady: true })
  expect(board.takePoint().delays).toEqual([31, null])
  board.setStatus(1, 'down', false)
  expect(board.lanes()[0]).toMatchObject({ status: 'down', pid: 0, eventLoopDelayMs: 0, isReady: false })
  expect(board.takePoint().delays).toEqual([null, null])
})

test('a point of the history contains only the calls of its second', () => {
  const { board, clock } = openBoard()
  for (const call of ['a', 'b', 'c']) board.recordSent(call, 'light')
  clock.advance(100)
  board.recordMoved('a')
  board.recordCompleted('a', true)
  clock.advance(900)
  expect(board.takePoint()).toMatchObject({ at: 1, perSecond: 1, movesPerSecond: 1, p50Ms: 100, p99Ms: 100 })
  clock.advance(500)
  board.recordCompleted('b', true)
  clock.advance(500)
  expect(board.takePoint()).toMatchObject({ at: 2, perSecond: 1, movesPerSecond: 0, p50Ms: 1500 })
  expect(board.timing(10_000)).toMatchObject({ perSecond: 0.2, p50Ms: 100, p99Ms: 1500 })
})

test('messages about unknown calls are ignored', () => {
  const { board, begin, work, end } = openBoard()
  begin('unknown', 1)
  work('unknown', 1, 2)
  end('unknown', 1)
  board.recordMoved('unknown')
  board.recordLost('unknown')
  expect(board.calls()).toEqual([])
})
