import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../calls/target.ts'
import { guardGroup } from '../wire/guard-group.ts'

export interface ProcessCommand extends Program {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Short, because a call of an older client that waits for an answer would hold the server for longer. */
const stopMs = 1000

/**
 * A process that this command has started, with those that it has started itself: a group of its own, which ends with
 * this command.
 */
export class OwnProcess {
  /** Resolves with a description of the exit. Never rejects. */
  readonly exited: Promise<string>
  readonly #isGrouped = process.platform !== 'win32'
  readonly #child: ChildProcessWithoutNullStreams

  constructor(
    { command, args, env, cwd }: ProcessCommand,
    onLine: (text: string, stream: 'stdout' | 'stderr') => void,
  ) {
    const options = { env, cwd, stdio: 'pipe', windowsHide: true, detached: this.#isGrouped } as const
    const child = spawn(command, [...args], options)
    this.#child = child
    child.stdin.on('error', () => {})
    for (const stream of ['stdout', 'stderr'] as const)
      createInterface({ input: child[stream] }).on('line', (text) => onLine(text, stream))
    const stopGuard = guardGroup(child.pid)
    this.exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`it cannot be started: ${error.message}`))
      child.once('close', (code, signal) =>
        resolve(signal === null ? `it ended with code ${code}` : `it ended by ${signal}`),
      )
    })
    // What the process leaves behind would keep its pipes open, and its port.
    child.once('exit', () => {
      this.kill()
      stopGuard()
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** Asks the process to stop, and ends it after a second. Resolves when it has exited. */
  async stop(): Promise<void> {
    this.#signalTree('SIGTERM')
    const timer = new AbortController()
    await Promise.race([this.exited, sleep(stopMs, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
    this.kill()
    await this.exited
  }

  /** Ends the process at once. */
  kill(): void {
    this.#signalTree('SIGKILL')
  }

  #signalTree(signal: NodeJS.Signals): void {
    try {
      if (this.#isGrouped && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal)
      else this.#child.kill(signal)
    } catch {
      // It has ended.
    }
  }
}
