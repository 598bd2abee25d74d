import { availableParallelism } from 'node:os'
import { Board } from '../board/board.ts'
import type { LoadLevel, Point, Snapshot } from '../board/snapshot.ts'
import type { BalancerName } from '../fleet/balancer.ts'
import { type Fleet, startFleet } from '../fleet/start-fleet.ts'
import { millisecondsPerCall } from '../load/calibrate.ts'
import { Load } from '../load/drive-load.ts'

/** A fleet, the clients that call it, and the recorded state of both. */
export interface Stage {
  readonly board: Board
  readonly fleet: Fleet
  readonly load: Load
  /** The mean CPU time of a call, in milliseconds. */
  readonly callMs: number
  /** Sets the amount of load. */
  setLevel(level: LoadLevel): void
  /** Switches load shedding on or off at every instance. */
  setShedding(on: boolean): void
  /** Restarts every instance in turn. Resolves when the last new instance listens. */
  restartAll(): Promise<void>
  snapshot(): Snapshot
  /** Stops the clients, the instances and the balancer. */
  stop(): Promise<void>
}

/** Options of a stage. */
export interface StageOptions {
  readonly balancer: BalancerName
  readonly size: number
  /** The port of the endpoint; 0 picks a free one. */
  readonly port: number
  readonly sheds: boolean
  readonly seed?: number | undefined
  /** The mean CPU time of a call in milliseconds. Default: measured at the start. */
  readonly callMs?: number | undefined
  readonly onFailure: (error: unknown) => void
}

/** The time for which a stopping instance waits for its calls, in milliseconds: a tenth of that in a deployment. */
const graceMs = 1_000
const maxPoints = 120
const recentMs = 10_000

/**
 * Starts the fleet and the clients, without load. Rejects with a `UsageError` if a port is in use or a program is
 * missing.
 */
export async function openStage({
  seed = 1,
  callMs = millisecondsPerCall(),
  ...options
}: StageOptions): Promise<Stage> {
  const board = new Board(options.size)
  const fleet = await startFleet({
    ...options,
    graceMs,
    onStatus: (...change) => board.setStatus(...change),
    onMessage: (instance, message) => board.receiveMessage(instance, message),
  })
  const load = new Load({ url: fleet.url, board, seed })
  let { sheds } = options
  let level: LoadLevel = 'off'
  let rollingRestart: Promise<void> | undefined
  let points: readonly Point[] = []
  const pointTimer = setInterval(() => {
    points = [...points, board.takePoint()].slice(-maxPoints)
  }, 1_000)
  return {
    board,
    fleet,
    load,
    callMs,
    setLevel(next) {
      level = next
      load.setRate(callsPerSecond(next, options.size, callMs))
    },
    setShedding(on) {
      sheds = on
      fleet.setShedding(on)
    },
    restartAll() {
      rollingRestart ??= fleet.restartAll().finally(() => {
        rollingRestart = undefined
      })
      return rollingRestart
    },
    snapshot: () => ({
      balancer: options.balancer,
      url: fleet.url,
      sheds,
      level,
      isRolling: rollingRestart !== undefined,
      lanes: board.lanes(),
      calls: board.calls(),
      totals: board.totals(),
      recent: board.timing(recentMs),
      points,
    }),
    async stop() {
      clearInterval(pointTimer)
      await load.stop()
      await fleet.stop()
    },
  }
}

/** Returns the rate of calls per second that keeps the available cores busy for this share of the time. */
function callsPerSecond(level: LoadLevel, size: number, callMs: number): number {
  const cores = Math.min(availableParallelism(), size)
  const share = { off: 0, steady: 0.25, heavy: 0.75 }[level]
  return (share * cores * 1000) / callMs
}
