import { once } from 'node:events'
import type { Instance } from '@x/cli/dev'
import { startBalancer } from './balancer.ts'
import { type Child, startChild } from './child.ts'

/** Several instances of the server behind one port. */
export interface Fleet {
  readonly url: string
  /** Returns the numbers of the instances that listen now. */
  listening(): readonly number[]
  /** Returns the processes of the instances that listen now. */
  instances(): readonly Instance[]
  /** Kills an instance, and resolves when it has exited. Another instance starts in its place. */
  kill(id: number): Promise<void>
  /** Resolves when all instances listen. Rejects when the signal aborts. */
  complete(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** The options of a fleet. */
export interface FleetOptions {
  readonly count: number
  /** The shared port; 0 selects a free one. */
  readonly port: number
  /** Returns further environment variables of the instances, for their shared URL. */
  readonly environmentAt: (url: string) => Promise<Readonly<Record<string, string>>>
  /** Called if an instance cannot be replaced. */
  readonly onFailure: (error: unknown) => void
}

const module = new URL('../instance.js', import.meta.url)

/** Starts the instances behind a balancer. Rejects if one of them cannot start. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { count, port, environmentAt, onFailure } = options
  const listening = new Map<number, Child>()
  const changes = new EventTarget()
  let [last, stopping] = [0, false]

  let environment: Readonly<Record<string, string>> = {}
  const startInstance = async (id: number): Promise<void> => {
    // These variables override the environment: the instances listen on this machine only.
    const own = { PORT: '0', HOST: '127.0.0.1', INSTANCE: String(id) }
    const child = await startChild(module, { ...environment, ...own })
    if (stopping) return child.stop()
    listening.set(id, child)
    changes.dispatchEvent(new Event('change'))
    void child.exited.then(() => {
      listening.delete(id)
      if (!stopping) startInstance(++last).catch((error) => stopping || onFailure(error))
    })
  }

  const inOrder = () => [...listening].sort(([a], [b]) => a - b)
  const balancer = await startBalancer(port, () => inOrder().map(([, child]) => child.port))
  const stop = async (): Promise<void> => {
    stopping = true
    await balancer.close()
    await Promise.all([...listening.values()].map((child) => child.stop()))
  }
  const url = `http://127.0.0.1:${balancer.port}/mcp`
  try {
    environment = await environmentAt(url)
    await Promise.all(Array.from({ length: count }, () => startInstance(++last)))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    listening: () => inOrder().map(([id]) => id),
    instances: () =>
      inOrder().map(([, { port: own, pid, kill }]) => ({ url: new URL(`http://127.0.0.1:${own}/mcp`), pid, kill })),
    kill: async (id) => listening.get(id)?.kill(),
    complete: async (signal) => {
      while (listening.size < count) await once(changes, 'change', { signal })
    },
    stop,
  }
}
