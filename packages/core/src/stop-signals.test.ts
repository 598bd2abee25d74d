import { expect, onTestFinished, test, vi } from 'vitest'
import { onStopSignal, signalRepeatMs } from './stop-signals.ts'

test('a signal that a runner passes on once more is the same request, and a later one ends the process [ROB-001]', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  onTestFinished(() => kill.mockRestore())
  let now = 1000
  const stops: string[] = []
  const listenerCount = process.listenerCount('SIGTERM')
  onStopSignal((signal) => stops.push(signal), { monotonicNow: () => now })
  process.emit('SIGINT', 'SIGINT')
  now += signalRepeatMs - 1
  process.emit('SIGINT', 'SIGINT')
  process.emit('SIGTERM', 'SIGTERM')
  expect([stops, kill.mock.calls]).toEqual([['SIGINT'], []])
  now += 1
  process.emit('SIGTERM', 'SIGTERM')
  expect([stops, kill.mock.calls]).toEqual([['SIGINT'], [[process.pid, 'SIGTERM']]])
  expect(process.listenerCount('SIGTERM')).toBe(listenerCount)
})
