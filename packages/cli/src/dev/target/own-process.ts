import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../calls/target.ts'

export interface ProcessCommand extends Program {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface OutputLine {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A process that this command has started, with those that it has started itself. */
export interface OwnProcess {
  readonly pid: number | undefined
  /** Resolves with a description of the exit. Never rejects. */
  readonly exited: Promise<string>
  write(line: string): void
  /** Asks the process to stop, and ends it after a second. Resolves when it has exited. */
  stop(): Promise<void>
  /** Ends the process at once. */
  kill(): void
}

/** Short, because a call of an older client that waits for an answer would hold the server for longer. */
const stopMs = 1000

/**
 * Starts a process in a group of its own. If this command is killed, nothing could end the group, so on POSIX a shell
 * waits for the end of a pipe that only this command holds, and then ends it.
 */
export function startOwnProcess(
  { command, args, env, cwd }: ProcessCommand,
  onLine: (line: OutputLine) => void,
): OwnProcess {
  const isGrouped = process.platform !== 'win32'
  const child = spawn(command, [...args], { env, cwd, stdio: 'pipe', windowsHide: true, detached: isGrouped })
  child.stdin.on('error', () => {})
  for (const stream of ['stdout', 'stderr'] as const)
    createInterface({ input: child[stream] }).on('line', (text) => onLine({ stream, text }))
  const guard = isGrouped && child.pid !== undefined ? guardGroup(child.pid) : undefined
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it cannot be started: ${error.message}`))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `it ended with code ${code}` : `it ended by ${signal}`),
    )
  })
  const signalTree = (signal: NodeJS.Signals): void => {
    try {
      if (isGrouped && child.pid !== undefined) process.kill(-child.pid, signal)
      else child.kill(signal)
    } catch {
      // It has ended.
    }
  }
  // What the process leaves behind would keep its pipes open, and its port.
  child.once('exit', () => {
    signalTree('SIGKILL')
    guard?.kill('SIGKILL')
  })
  return {
    pid: child.pid,
    exited,
    write: (line) => void child.stdin.write(`${line}\n`),
    kill: () => signalTree('SIGKILL'),
    stop: async () => {
      signalTree('SIGTERM')
      const timer = new AbortController()
      await Promise.race([exited, sleep(stopMs, undefined, { signal: timer.signal }).catch(() => {})])
      timer.abort()
      signalTree('SIGKILL')
      await exited
    },
  }
}

/** Ends a process group when this process ends, even by SIGKILL. */
function guardGroup(pid: number): ChildProcess {
  const script = 'read _; kill -s KILL -- "-$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.on('error', () => {})
  guard.unref()
  return guard
}
