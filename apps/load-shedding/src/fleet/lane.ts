import type { ChildProcess } from 'node:child_process'
import type { LaneStatus } from '../board/snapshot.ts'
import { type InstanceMessage, type InstanceOrder, readMessage } from '../instance/instance-message.ts'

/** A place for an instance: when one is gone, another takes its place. */
export interface Lane {
  status(): LaneStatus
  /** Resolves when the instance listens; rejects when it ends before that. */
  start(): Promise<void>
  /** Stops the instance with a signal and starts another one; at once when one is on its way already. */
  restart(): Promise<void>
  kill(): void
  overload(on: boolean): void
  tell(order: InstanceOrder): void
  /** Ends the instance for good. */
  stop(): Promise<void>
}

/** What a lane is made with. */
export interface LaneOptions {
  readonly start: () => ChildProcess
  /** How long an instance may take to stop, in milliseconds, before it is ended. */
  readonly stopMs: number
  readonly onStatus: (status: LaneStatus, isOverloaded: boolean) => void
  readonly onMessage: (message: InstanceMessage) => void
  readonly onFailure: (error: unknown) => void
}

/** Which share of the time an overloaded instance stands still. */
const overloadedShare = 0.9

const downMs = 1_000

interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<void>
}

/** Makes an empty lane. */
export function createLane(options: LaneOptions): Lane {
  let status: LaneStatus = 'down'
  let running: Running | undefined
  let isOverloaded = false
  let isStopped = false
  let restarting: Promise<void> | undefined

  const setStatus = (next: LaneStatus): void => {
    status = next
    options.onStatus(status, isOverloaded)
  }
  const tell = (order: InstanceOrder): void => {
    if (running?.child.connected === true) running.child.send(order, () => {})
  }
  const start = async (): Promise<void> => {
    const child = options.start()
    const started: Running = { child, exited: new Promise((resolve) => child.once('exit', () => resolve())) }
    running = started
    isOverloaded = false
    setStatus('starting')
    child.on('message', (value) => {
      const message = readMessage(value)
      if (message !== undefined) options.onMessage(message)
    })
    await listening(started)
    if (!isStopped) setStatus('ready')
    void started.exited.then(() => replace(started))
  }
  /** After an instance that ended by itself, or was killed. */
  const replace = (ended: Running): void => {
    if (isStopped || restarting !== undefined || running !== ended) return
    setStatus('down')
    setTimeout(() => {
      if (!isStopped && running === ended) start().catch(options.onFailure)
    }, downMs)
  }
  const leaveAndReturn = async (): Promise<void> => {
    const old = running
    if (old === undefined || status !== 'ready') return
    setStatus('leaving')
    await terminate(old, options.stopMs)
    if (!isStopped) await start()
  }
  const restart = (): Promise<void> => {
    restarting ??= leaveAndReturn().finally(() => {
      restarting = undefined
    })
    return restarting
  }
  return {
    status: () => status,
    start,
    restart,
    tell,
    kill: () => void running?.child.kill('SIGKILL'),
    overload(on) {
      isOverloaded = on
      tell({ order: 'throttle', share: on ? overloadedShare : 0 })
      options.onStatus(status, isOverloaded)
    },
    async stop() {
      isStopped = true
      if (running !== undefined) {
        running.child.kill('SIGKILL')
        await running.exited
      }
    },
  }
}

async function terminate({ child, exited }: Running, stopMs: number): Promise<void> {
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await exited
  clearTimeout(late)
}

function listening({ child, exited }: Running): Promise<void> {
  return new Promise((resolve, reject) => {
    void exited.then(() => reject(new Error('an instance ended before it listened; its output says why')))
    child.on('message', (value) => {
      if (readMessage(value)?.kind === 'listening') resolve()
    })
  })
}
