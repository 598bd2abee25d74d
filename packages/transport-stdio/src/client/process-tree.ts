import { type ChildProcess, spawn as nodeSpawn } from 'node:child_process'
import process from 'node:process'
import { type Clock, sleep } from '@x/core'
import type { Spawn } from './spawner.ts'

/** A signal that ends a process: the first lets it finish, the second does not. */
export type TerminationSignal = 'SIGTERM' | 'SIGKILL'

/** A process with those that it has started. */
export interface ProcessTree {
  /** Sends a signal to every process of the tree that runs. On Windows any signal ends them at once. */
  kill(signal: TerminationSignal): void
  /** Resolves to true when no process of the tree runs any more, and to false after `ms`. */
  waitForEnd(timeoutMs: number, clock: Clock): Promise<boolean>
}

/** The parts of a platform that end processes. Default: the real ones. */
export interface ProcessPlatform {
  readonly platform: NodeJS.Platform
  readonly spawn: Spawn
}

const pollIntervalMs = 20

/**
 * Returns the tree of a process. On POSIX it is the process group that `isGroupLeader` says it leads. On Windows
 * `taskkill` finds the processes by their parents, as long as the process itself runs.
 */
export function createProcessTree(
  child: ChildProcess,
  isGroupLeader: boolean,
  { platform, spawn }: ProcessPlatform = { platform: process.platform, spawn: nodeSpawn },
): ProcessTree {
  const { pid } = child
  if (platform === 'win32' && pid !== undefined)
    return toProcessTree(child, { kill: () => killTreeOnWindows(pid, spawn) })
  if (!isGroupLeader || pid === undefined) return toProcessTree(child, { kill: (signal) => child.kill(signal) })
  return toProcessTree(child, { kill: (signal) => signalGroup(pid, signal), isRunning: () => signalGroup(pid, 0) })
}

function toProcessTree(
  child: ChildProcess,
  { kill, isRunning }: { readonly kill: (signal: TerminationSignal) => unknown; readonly isRunning?: () => boolean },
): ProcessTree {
  const isTreeRunning = isRunning ?? (() => child.exitCode === null && child.signalCode === null)
  return {
    kill: (signal) => {
      if (isTreeRunning()) kill(signal)
    },
    async waitForEnd(timeoutMs, clock) {
      // There is no event for the end of the last process of a group.
      for (let waitedMs = 0; waitedMs < timeoutMs && isTreeRunning(); waitedMs += pollIntervalMs) {
        await sleep(pollIntervalMs, { clock })
      }
      return !isTreeRunning()
    },
  }
}

/** Sends a signal to a process group, and returns whether there is such a group. 0 asks no more than that. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    // The group may belong to another user, as that of a program that changed its own.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function killTreeOnWindows(pid: number, spawn: Spawn): void {
  // By its full path: a program of this name in the working directory must not run instead.
  const taskkill = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`
  spawn(taskkill, ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {
    process.kill(pid)
  })
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const groupLeaderPids = new Set<number>()

/**
 * Forwards the signals that end this process to a process group: a terminal sends its Ctrl-C to the group of this
 * process alone. Where nobody else listens for the signal, it then ends this process, as it would have.
 *
 * Returns the function that stops it.
 */
export function forwardSignals(pid: number): () => void {
  if (groupLeaderPids.size === 0) for (const signal of forwardedSignals) process.on(signal, forwardSignal)
  groupLeaderPids.add(pid)
  return () => {
    if (groupLeaderPids.delete(pid) && groupLeaderPids.size === 0) stopForwarding()
  }
}

function forwardSignal(signal: NodeJS.Signals): void {
  for (const pid of groupLeaderPids) signalGroup(pid, signal)
  if (process.listenerCount(signal) > 1) return
  stopForwarding()
  process.kill(process.pid, signal)
}

function stopForwarding(): void {
  for (const signal of forwardedSignals) process.off(signal, forwardSignal)
}
