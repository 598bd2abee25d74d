import type { ChildProcess } from 'node:child_process'
import type { LaneStatus } from '../board/snapshot.ts'
import type { InstanceMessage, InstanceCommand } from '../instance/instance-message.ts'

/** Options of a lane. */
export interface LaneOptions {
  readonly start: () => ChildProcess
  /** The time limit of a stop in milliseconds. After it the process receives SIGKILL. */
  readonly stopMs: number
  readonly onStatus: (status: LaneStatus, isOverloaded: boolean) => void
  readonly onMessage: (message: InstanceMessage) => void
  /** Called when a replacement instance cannot start. */
  readonly onFailure: (error: unknown) => void
}

/** The share of time for which an overloaded instance is blocked. */
const overloadedShare = 0.9

/** The delay before an instance that ended unexpectedly is replaced, in milliseconds. */
const restartDelayMs = 1_000

interface InstanceProcess {
  readonly child: ChildProcess
  readonly exited: Promise<void>
}

/** A slot of the fleet. It runs one instance at a time, and starts another one when the instance ends. */
export class Lane {
  readonly #options: LaneOptions
  #status: LaneStatus = 'down'
  #running: InstanceProcess | undefined
  #isOverloaded = false
  #isStopped = false
  #restarting: Promise<void> | undefined

  constructor(options: LaneOptions) {
    this.#options = options
  }

  get status(): LaneStatus {
    return this.#status
  }

  /** Starts an instance. Resolves when it listens; rejects if its process ends before that. */
  async start(): Promise<void> {
    const child = this.#options.start()
    const running: InstanceProcess = { child, exited: new Promise((resolve) => child.once('exit', () => resolve())) }
    this.#running = running
    this.#isOverloaded = false
    this.#setStatus('starting')
    child.on('message', this.#options.onMessage)
    await untilListening(running).catch((error: unknown) => {
      // `stop()` ended the instance during its start, which is no failure.
      if (!this.#isStopped) throw error
    })
    if (this.#isStopped) return
    this.#setStatus('ready')
    void running.exited.then(() => this.#replace(running))
  }

  /**
   * Stops the instance with SIGTERM and starts another one. Resolves when that listens. A call during a restart returns
   * the promise of that restart.
   */
  restart(): Promise<void> {
    this.#restarting ??= this.#restartOnce().finally(() => {
      this.#restarting = undefined
    })
    return this.#restarting
  }

  /** Ends the instance with SIGKILL. */
  kill(): void {
    this.#running?.child.kill('SIGKILL')
  }

  /** Starts or ends the blocking of the instance for nine tenths of the time. */
  overload(on: boolean): void {
    this.#isOverloaded = on
    this.send({ kind: 'throttle', share: on ? overloadedShare : 0 })
    this.#setStatus(this.#status)
  }

  /** Sends a command to the instance, if it runs. */
  send(command: InstanceCommand): void {
    if (this.#running?.child.connected === true) this.#running.child.send(command, () => {})
  }

  /** Ends the instance with SIGKILL, and starts no other one. Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.kill()
    await this.#running?.exited
  }

  #setStatus(status: LaneStatus): void {
    this.#status = status
    this.#options.onStatus(status, this.#isOverloaded)
  }

  /** Starts another instance after one that crashed or was killed. */
  #replace(ended: InstanceProcess): void {
    const isObsolete = (): boolean => this.#isStopped || this.#running !== ended
    if (isObsolete() || this.#restarting !== undefined) return
    this.#setStatus('down')
    setTimeout(() => {
      if (!isObsolete()) this.start().catch(this.#options.onFailure)
    }, restartDelayMs)
  }

  async #restartOnce(): Promise<void> {
    if (this.#running === undefined || this.#status !== 'ready') return
    this.#setStatus('draining')
    await terminate(this.#running, this.#options.stopMs)
    if (!this.#isStopped) await this.start()
  }
}

async function terminate({ child, exited }: InstanceProcess, stopMs: number): Promise<void> {
  child.kill('SIGTERM')
  const killTimer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await exited
  clearTimeout(killTimer)
}

function untilListening({ child, exited }: InstanceProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    void exited.then(() => reject(new Error('an instance ended before it listened; see its output for the reason')))
    // Its first message shows that it listens.
    child.once('message', () => resolve())
  })
}
