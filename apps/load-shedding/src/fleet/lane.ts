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

/** Options of a lane. */
export interface LaneOptions {
  readonly start: () => ChildProcess
  /** The time limit of an instance's stop in milliseconds, after which it is killed. */
  readonly stopMs: number
  readonly onStatus: (status: LaneStatus, isOverloaded: boolean) => void
  readonly onMessage: (message: InstanceMessage) => void
  readonly onFailure: (error: unknown) => void
}

/** The share of time for which an overloaded instance is blocked. */
const overloadedShare = 0.9

const downMs = 1_000

interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<void>
}

/** The current state of a lane, which is updated in place. */
interface LaneState {
  readonly options: LaneOptions
  status: LaneStatus
  running: Running | undefined
  isOverloaded: boolean
  isStopped: boolean
  restarting: Promise<void> | undefined
}

/** Makes an empty lane. */
export function createLane(options: LaneOptions): Lane {
  const lane: LaneState = {
    options,
    status: 'down',
    running: undefined,
    isOverloaded: false,
    isStopped: false,
    restarting: undefined,
  }
  return {
    status: () => lane.status,
    start: () => start(lane),
    restart() {
      lane.restarting ??= leaveAndReturn(lane).finally(() => {
        lane.restarting = undefined
      })
      return lane.restarting
    },
    tell: (order) => tell(lane, order),
    kill: () => void lane.running?.child.kill('SIGKILL'),
    overload(on) {
      lane.isOverloaded = on
      tell(lane, { order: 'throttle', share: on ? overloadedShare : 0 })
      setStatus(lane, lane.status)
    },
    async stop() {
      lane.isStopped = true
      lane.running?.child.kill('SIGKILL')
      await lane.running?.exited
    },
  }
}

function setStatus(lane: LaneState, status: LaneStatus): void {
  lane.status = status
  lane.options.onStatus(status, lane.isOverloaded)
}

function tell({ running }: LaneState, order: InstanceOrder): void {
  if (running?.child.connected === true) running.child.send(order, () => {})
}

async function start(lane: LaneState): Promise<void> {
  const child = lane.options.start()
  const running: Running = { child, exited: new Promise((resolve) => child.once('exit', () => resolve())) }
  lane.running = running
  lane.isOverloaded = false
  setStatus(lane, 'starting')
  child.on('message', (value) => {
    const message = readMessage(value)
    if (message !== undefined) lane.options.onMessage(message)
  })
  await listening(running).catch((error: unknown) => {
    // One that was ended while it started has not failed.
    if (!lane.isStopped) throw error
  })
  if (lane.isStopped) return
  setStatus(lane, 'ready')
  void running.exited.then(() => replace(lane, running))
}

/** After an instance that ended by itself, or was killed. */
function replace(lane: LaneState, ended: Running): void {
  const isOver = (): boolean => lane.isStopped || lane.running !== ended
  if (isOver() || lane.restarting !== undefined) return
  setStatus(lane, 'down')
  setTimeout(() => {
    if (!isOver()) start(lane).catch(lane.options.onFailure)
  }, downMs)
}

async function leaveAndReturn(lane: LaneState): Promise<void> {
  const { running } = lane
  if (running === undefined || lane.status !== 'ready') return
  setStatus(lane, 'leaving')
  await terminate(running, lane.options.stopMs)
  if (!lane.isStopped) await start(lane)
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
