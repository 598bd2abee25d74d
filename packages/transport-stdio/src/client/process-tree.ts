import { type ChildProcess, spawn as nodeSpawn } from 'node:child_process'
import process from 'node:process'
import { type Clock, codeOf, platformRuntime, sleep } from '@x/core'
import { endBySignal, signalRepeatMs } from '@x/core/node'
import type { Spawn } from './spawner.ts'

/** SIGTERM lets the process finish its work, SIGKILL does not. */
export type TerminationSignal = 'SIGTERM' | 'SIGKILL'

const pollIntervalMs = 20

/** A process and those that it has started. */
export class ProcessTree {
  readonly #kill: (signal: TerminationSignal) => unknown
  readonly #isRunning: () => boolean

  constructor(kill: (signal: TerminationSignal) => unknown, isRunning: () => boolean) {
    this.#kill = kill
    this.#isRunning = isRunning
  }

  /** Signals all running processes of the tree. On Windows every signal ends them at once. */
  kill(signal: TerminationSignal): void {
    if (this.#isRunning()) this.#kill(signal)
  }

  /** True once none of them runs, false after `timeoutMs`. */
  async waitForEnd(timeoutMs: number, clock: Clock): Promise<boolean> {
    // Polled: no event says that the last process of a group has ended.
    for (let waitedMs = 0; waitedMs < timeoutMs && this.#isRunning(); waitedMs += pollIntervalMs)
      await sleep(pollIntervalMs, { clock })
    return !this.#isRunning()
  }
}

/**
 * On POSIX the tree is the process group, or the process alone if `isGroupLeader` is false. On Windows `taskkill` finds
 * the children, but only while the process itself runs. Tests replace the platform.
 */
export function createProcessTree(
  child: ChildProcess,
  isGroupLeader: boolean,
  { platform, spawn }: { readonly platform: NodeJS.Platform; readonly spawn: Spawn } = {
    platform: process.platform,
    spawn: nodeSpawn,
  },
): ProcessTree {
  const { pid } = child
  const isChildRunning = (): boolean => child.exitCode === null && child.signalCode === null
  if (platform === 'win32' && pid !== undefined)
    return new ProcessTree(() => killTreeOnWindows(pid, spawn), isChildRunning)
  if (!isGroupLeader || pid === undefined) return new ProcessTree((signal) => child.kill(signal), isChildRunning)
  return new ProcessTree(
    (signal) => {
      if (exitSignals.has(pid)) exitSignals.set(pid, 'SIGKILL')
      signalGroup(pid, signal)
    },
    () => signalGroup(pid, 0),
  )
}

/** Returns true if the group exists. The signal 0 only checks that. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    // The group exists, but its program has changed its user.
    return codeOf(error) === 'EPERM'
  }
}

function killTreeOnWindows(pid: number, spawn: Spawn): void {
  // By its full path, so that no program of the same name in the working directory is started instead.
  const taskkill = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`
  spawn(taskkill, ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {
    process.kill(pid)
  })
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/**
 * By the leaders of the groups, what a group gets when this process exits: SIGTERM, or SIGKILL once it has had SIGTERM.
 * Bounded by the processes that the host has started.
 */
const exitSignals = new Map<number, TerminationSignal>()
/** The first signal to stop that another part of this process has handled. */
let handled: { readonly signal: NodeJS.Signals; readonly at: number } | undefined

/**
 * Forwards the signals that end this process to a process group, because Ctrl-C in a terminal reaches only the group of
 * this process. The signal then ends this process as usual. If another part of this process handles the signal, nothing
 * is forwarded: calls may run in the group until that part closes the connection. A later signal that does end this
 * process ends the group at once, because a program that gets its first signal would only begin to stop.
 *
 * An exit, as by `process.exit` or an error that nothing catches, signals the group too: a server may ignore the end of
 * its stdin, and what it has started does not notice it.
 *
 * The returned function stops the forwarding.
 */
export function forwardSignals(pid: number): () => void {
  // A listener that was added with `once` counts only before it has run.
  if (exitSignals.size === 0) {
    for (const signal of forwardedSignals) process.prependListener(signal, forwardSignal)
    process.on('exit', signalAtExit)
  }
  exitSignals.set(pid, 'SIGTERM')
  return () => {
    if (exitSignals.delete(pid) && exitSignals.size === 0) stopForwarding()
  }
}

function forwardSignal(signal: NodeJS.Signals): void {
  const now = platformRuntime.monotonicNow()
  if (process.listenerCount(signal) > 1) {
    if (signal !== 'SIGHUP') handled ??= { signal, at: now }
    return
  }
  // A runner repeats what a listener that was added with `once` has handled.
  if (handled?.signal === signal && now - handled.at < signalRepeatMs) return
  for (const [pid, exitSignal] of exitSignals)
    signalGroup(pid, handled !== undefined || exitSignal === 'SIGKILL' ? 'SIGKILL' : signal)
  stopForwarding()
  // It is called for these signals alone.
  endBySignal(signal as (typeof forwardedSignals)[number])
}

function signalAtExit(): void {
  for (const [pid, signal] of exitSignals) signalGroup(pid, signal)
}

function stopForwarding(): void {
  for (const signal of forwardedSignals) process.off(signal, forwardSignal)
  process.off('exit', signalAtExit)
}
