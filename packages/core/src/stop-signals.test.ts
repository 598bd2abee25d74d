import { expect, onTestFinished, test, vi } from 'vitest'
import { onStopSignal, signalRepeatMs } from './stop-signals.ts'

test('a signal that a runner passes on once more is the same request, and a later one ends the process [ROB-001]', async () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const exited = new Promise((resolve) => vi.spyOn(process, 'exit').mockImplementation(resolve as () => never))
  onTestFinished(() => void vi.restoreAllMocks())
  let now = 1000
  const stops: string[] = []
  const listenerCount = process.listenerCount('SIGTERM')
  onStopSignal((signal) => stops.push(signal), { monotonicNow: () => now, setTimeout: (run) => run() })
  // Other listeners of this process, such as those of a pool of pg, would end it.
  const send = process.listeners('SIGTERM').at(-1)
  send?.('SIGINT')
  now += signalRepeatMs - 1
  send?.('SIGINT')
  send?.('SIGTERM')
  expect([stops, kill.mock.calls]).toEqual([['SIGINT'], []])
  now += 1
  send?.('SIGTERM')
  expect([stops, kill.mock.calls]).toEqual([['SIGINT'], [[process.pid, 'SIGTERM']]])
  expect(process.listenerCount('SIGTERM')).toBe(listenerCount)
  // Here something else handles the signal.
  expect(await exited).toBe(143)
})
