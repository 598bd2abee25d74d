import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { LaneStatus } from '../board/snapshot.ts'
import type { InstanceMessage } from '../instance/instance-message.ts'
import type { Balancer, BalancerName, BalancerOptions, InstanceEnvironment } from './balancer.ts'
import { createLane, type Lane } from './lane.ts'
import { openCluster } from './open-cluster.ts'
import { openHaproxy, openNginx } from './open-proxy.ts'

/** Several instances behind a balancer, and what can be done to them. Instances count from 1. */
export interface Fleet {
  readonly url: string
  /** The number of lanes. */
  readonly size: number
  /** Lets an instance stand still for nine tenths of the time, or ends that. */
  overload(instance: number, on: boolean): void
  setShedding(on: boolean): void
  /** Ends an instance without warning; another one takes its place after a second. */
  kill(instance: number): void
  /** Stops an instance as a deployment does, and starts another one in its place. Resolves when that listens. */
  restart(instance: number): Promise<void>
  /** Restarts every instance, one after another. */
  restartAll(): Promise<void>
  stop(): Promise<void>
}

/** Options of a fleet. */
export interface FleetOptions {
  readonly balancer: BalancerName
  /** The port of the endpoint; 0 picks a free one. */
  readonly port: number
  readonly size: number
  readonly sheds: boolean
  /** The time for which a stopping instance waits for calls that it cannot hand off, in milliseconds. */
  readonly graceMs: number
  /** For how many milliseconds each chunk of work holds an event loop; as long as counting takes when absent. */
  readonly chunkMs?: number | undefined
  readonly onStatus: (instance: number, status: LaneStatus, isOverloaded: boolean) => void
  readonly onMessage: (instance: number, message: InstanceMessage) => void
  /** Called when an instance cannot be started. */
  readonly onFailure: (error: unknown) => void
}

const openers: Readonly<Record<BalancerName, (setup: BalancerOptions) => Promise<Balancer>>> = {
  cluster: openCluster,
  nginx: openNginx,
  haproxy: openHaproxy,
}

/** The time that a stop takes in addition to its own limits, before the instance is killed. */
const extraStopMs = 3_000

// Also where this file runs from its source, as in tests: only what was built can be a process.
const module = fileURLToPath(new URL('../../dist/instance/instance.js', import.meta.url))

/** Starts the balancer and the instances. Rejects when one of them cannot start. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { size } = options
  const balancer = await openers[options.balancer]({ port: options.port, lanes: size, module })
  const shared = { stateKey: randomBytes(32).toString('hex'), sheds: options.sheds }
  const lanes: Lane[] = []
  const updateReadyLanes = createReadyLanesListener(balancer, lanes)
  for (let index = 0; index < size; index++)
    lanes.push(createFleetLane(index, { options, balancer, shared, updateReadyLanes }))
  const laneOf = (instance: number): Lane => {
    const lane = lanes[instance - 1]
    if (lane === undefined) throw new RangeError(`there is no instance ${instance}: there are 1 to ${size}`)
    return lane
  }
  const stop = async (): Promise<void> => {
    await Promise.all(lanes.map((lane) => lane.stop()))
    await balancer.stop()
  }
  try {
    await Promise.all(lanes.map((lane) => lane.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: balancer.url,
    size,
    overload: (instance, on) => laneOf(instance).overload(on),
    setShedding(on) {
      shared.sheds = on
      for (const lane of lanes) lane.send({ kind: 'shedding', on })
    },
    kill: (instance) => laneOf(instance).kill(),
    restart: (instance) => laneOf(instance).restart(),
    async restartAll() {
      for (const lane of lanes) await lane.restart()
    },
    stop,
  }
}

interface LaneContext {
  readonly options: FleetOptions
  readonly balancer: Balancer
  /** Options of the next instance. */
  readonly shared: { readonly stateKey: string; sheds: boolean }
  readonly updateReadyLanes: () => void
}

function createFleetLane(index: number, { options, balancer, shared, updateReadyLanes }: LaneContext): Lane {
  const { graceMs, chunkMs, onFailure } = options
  const instance = index + 1
  const environment = (): InstanceEnvironment => ({
    STATE_KEYS: shared.stateKey,
    SHEDDING: shared.sheds ? 'on' : 'off',
    NOTICE_MS: String(balancer.noticeMs),
    GRACE_MS: String(graceMs),
    ...(chunkMs !== undefined && { CHUNK_MS: String(chunkMs) }),
  })
  return createLane({
    start: () => balancer.start(index, environment()),
    stopMs: balancer.noticeMs + graceMs + extraStopMs,
    onStatus(status, isOverloaded) {
      options.onStatus(instance, status, isOverloaded)
      updateReadyLanes()
    },
    onMessage: (message) => options.onMessage(instance, message),
    onFailure,
  })
}

/** Notifies the balancer of each change of the list of instances. */
function createReadyLanesListener(balancer: Balancer, lanes: readonly Lane[]): () => void {
  let lastReady = ''
  return () => {
    const ready = lanes.flatMap((lane, index) => (lane.status() === 'ready' ? [index] : []))
    if (ready.join() === lastReady) return
    lastReady = ready.join()
    balancer.setReadyLanes(ready)
  }
}
