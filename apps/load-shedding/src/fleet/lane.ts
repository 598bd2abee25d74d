import type { ChildProcess } from 'node:child_process'
import type { LaneStatus } from '../board/snapshot.ts'
import { type InstanceMessage, type InstanceCommand, parseInstanceMessage } from '../instance/instance-message.ts'

/** A slot of the fleet. It runs one instance at a time, and starts another one when the instance ends. */
export interface Lane {
  status(): LaneStatus
  /** Starts an instance. Resolves when it listens; rejects if its process ends before that. */
  start(): Promise<void>
  /**
   * Stops the instance with SIGTERM and starts another one. Resolves when that listens. A call during a restart returns
   * the promise of that restart.
   */
  restart(): Promise<void>
  /** Ends the instance with SIGKILL. */
  kill(): void
  /** Starts or ends the blocking of the instance for nine tenths of the time. */
  overload(on: boolean): void
  /** Sends a command to the instance, if it runs. */
  send(command: InstanceCommand): void
  /** Ends the instance with SIGKILL, and starts no other one. Resolves when its process has ended. */
  stop(): Promise<void>
}

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

/** The current state of a lane, which is updated in place. */
interface LaneState {
  readonly options: LaneOptions
  status: LaneStatus
  running: InstanceProcess | undefined
  isOverloaded: boolean
  isStopped: boolean
  restarting: Promise<void> | undefined
}

/** Creates a lane without an instance. */
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
    start: () => startInstance(lane),
    restart() {
      lane.restarting ??= restartInstance(lane).finally(() => {
        lane.restarting = undefined
      })
      return lane.restarting
    },
    send: (command) => sendCommand(lane, command),
    kill: () => void lane.running?.child.kill('SIGKILL'),
    overload(on) {
      lane.isOverloaded = on
      sendCommand(lane, { kind: 'throttle', share: on ? overloadedShare : 0 })
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

function sendCommand({ running }: LaneState, command: InstanceCommand): void {
  if (running?.child.connected === true) running.child.send(command, () => {})
}

async function startInstance(lane: LaneState): Promise<void> {
  const child = lane.options.start()
  const running: InstanceProcess = { child, exited: new Promise((resolve) => child.once('exit', () => resolve())) }
  lane.running = running
  lane.isOverloaded = false
  setStatus(lane, 'starting')
  child.on('message', (value) => {
    const message = parseInstanceMessage(value)
    if (message !== undefined) lane.options.onMessage(message)
  })
  await untilListening(running).catch((error: unknown) => {
    // `stop()` ended the instance during its start, which is no failure.
    if (!lane.isStopped) throw error
  })
  if (lane.isStopped) return
  setStatus(lane, 'ready')
  void running.exited.then(() => replaceInstance(lane, running))
}

/** Starts another instance after one that crashed or was killed. */
function replaceInstance(lane: LaneState, ended: InstanceProcess): void {
  const isObsolete = (): boolean => lane.isStopped || lane.running !== ended
  if (isObsolete() || lane.restarting !== undefined) return
  setStatus(lane, 'down')
  setTimeout(() => {
    if (!isObsolete()) startInstance(lane).catch(lane.options.onFailure)
  }, restartDelayMs)
}

async function restartInstance(lane: LaneState): Promise<void> {
  const { running } = lane
  if (running === undefined || lane.status !== 'ready') return
  setStatus(lane, 'draining')
  await terminate(running, lane.options.stopMs)
  if (!lane.isStopped) await startInstance(lane)
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
    child.on('message', (value) => {
      if (parseInstanceMessage(value)?.kind === 'listening') resolve()
    })
  })
}
