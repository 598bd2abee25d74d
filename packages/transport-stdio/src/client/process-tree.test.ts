import { EventEmitter } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createProcessTree, forwardSignals } from './process-tree.ts'
import type { Spawn } from './spawner.ts'

/** A process that this test only names. */
function childOf(pid: number, exitCode: number | null): ChildProcess {
  return Object.assign(new EventEmitter(), { pid, exitCode, signalCode: null }) as unknown as ChildProcess
}

test('on Windows taskkill of the system ends a process and those that it has started', () => {
  const spawned: (readonly [string, readonly string[]])[] = []
  const spawn: Spawn = (command, args) => {
    spawned.push([command, args])
    return new EventEmitter() as ChildProcess
  }
  createProcessTree(childOf(4711, null), false, { platform: 'win32', spawn }).kill('SIGTERM')
  expect(spawned).toEqual([[expect.stringMatching(/\\System32\\taskkill\.exe$/), ['/pid', '4711', '/T', '/F']]])
})

test('a process that has ended is not signalled: its id may be that of another', () => {
  const spawn = vi.fn()
  createProcessTree(childOf(4711, 0), false, { platform: 'win32', spawn }).kill('SIGKILL')
  expect(spawn).not.toHaveBeenCalled()
})

test('a signal that a runner repeats does not end a host that listens to it once [ROB-001]', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const stopForwarding = forwardSignals(4711)
  onTestFinished(() => {
    stopForwarding()
    kill.mockRestore()
  })
  process.once('SIGINT', () => {})
  process.emit('SIGINT', 'SIGINT')
  process.emit('SIGINT', 'SIGINT')
  expect(kill).not.toHaveBeenCalled()
})
