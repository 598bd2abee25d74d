import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { LaneStatus } from '../board/snapshot.ts'
import type { InstanceMessage } from '../instance/instance-message.ts'
import type { Balancer, BalancerName, BalancerOptions, InstanceEnvironment } from './balancer.ts'
import { Lane } from './lane.ts'
import { openCluster } from './open-cluster.ts'
import { openHaproxy, openNginx } from './open-proxy.ts'

/** Several instances behind a balancer. The first instance is 1. */
export interface Fleet {
  readonly url: string
  /** The number of lanes. */
  readonly size: number
  /** Starts or ends the overload of an instance, which blocks it for nine tenths of the time. */
  overload(instance: number, on: boolean): void
  /** Switches load shedding on or off at every instance. */
  setShedding(on: boolean): void
  /** Ends an instance with SIGKILL. Another one starts in its lane after a second. */
  kill(instance: number): void
  /** Stops an instance with SIGTERM, and starts another one in its lane. Resolves when that listens. */
  restart(instance: number): Promise<void>
  /** Restarts every instance, one after another. Resolves when the last one listens. */
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
  /**
   * The time in milliseconds for which each chunk of work blocks the event loop. Default: the time that counting takes.
   */
  readonly chunkMs?: number | undefined
  readonly onStatus: (instance: number, status: LaneStatus, isOverloaded: boolean) => void
  readonly onMessage: (instance: number, message: InstanceMessage) => void
  /** Called when a replacement instance cannot start. */
  readonly onFailure: (error: unknown) => void
}

const openBalancer: Readonly<Record<BalancerName, (options: BalancerOptions) => Promise<Balancer>>> = {
  cluster: openCluster,
  nginx: openNginx,
  haproxy: openHaproxy,
}

/** The time that a stop may take beyond its own limits before the instance is killed, in milliseconds. */
const extraStopMs = 3_000

// Instances run from the build, even if this file runs from its source, as in tests.
const module = fileURLToPath(new URL('../../dist/instance/instance.js', import.meta.url))

/** Starts the balancer and the instances. Rejects if one of them cannot start. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { size } = options
  const balancer = await openBalancer[options.balancer]({ port: options.port, lanes: size, module })
  const shared = { stateKey: randomBytes(32).toString('hex'), sheds: options.sheds }
  const lanes: Lane[] = []
  const updateReadyLanes = createReadyLanesListener(balancer, lanes)
  for (let index = 0; index < size; index++)
    lanes.push(createFleetLane(index, { options, balancer, shared, updateReadyLanes }))
  const laneOf = (instance: number): Lane => {
    const lane = lanes[instance - 1]
    if (lane === undefined) throw new RangeError(`there is no instance ${instance}; it should be from 1 to ${size}`)
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
  /** Values for the environment of each new instance. */
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
  return new Lane({
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

/** Creates a function that sets the ready lanes of the balancer when they have changed. */
function createReadyLanesListener(balancer: Balancer, lanes: readonly Lane[]): () => void {
  let lastReady = ''
  return () => {
    const ready = lanes.flatMap((lane, index) => (lane.status === 'ready' ? [index] : []))
    if (ready.join() === lastReady) return
    lastReady = ready.join()
    balancer.setReadyLanes(ready)
  }
}
