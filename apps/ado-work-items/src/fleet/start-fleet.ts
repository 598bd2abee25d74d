import { isJsonObject } from '@x/schema'
import { startBalancer } from './balancer.ts'
import { type Child, startChild } from './child.ts'

/** Several instances of the server behind one port. */
export interface Fleet {
  readonly url: string
  /** The numbers of the instances that listen now. */
  listening(): readonly number[]
  /** Ends an instance without warning; resolves when it is gone. Another one starts in its place. */
  kill(id: number): Promise<void>
  /** Resolves when as many instances listen as there should be; rejects with the signal's reason. */
  complete(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** The number of instances, and their options. */
export interface FleetOptions {
  readonly count: number
  /** The port that they share; 0 picks a free one. */
  readonly port: number
  /** More variables of the instances' environment, for the URL that they share. */
  readonly environmentAt: (url: string) => Promise<Readonly<Record<string, string>>>
  /** Called when an instance cannot be replaced. */
  readonly onFailure: (error: unknown) => void
}

const module = new URL('../instance.js', import.meta.url)

/** Starts the instances and spreads connections over them by turns. Rejects when one of them cannot start. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { count, port, environmentAt, onFailure } = options
  const listening = new Map<number, Child>()
  const changes = new EventTarget()
  let [last, stopping] = [0, false]

  // The page of any instance can ask to kill one of them.
  const handleMessage = (message: unknown): void => {
    const id = isJsonObject(message) ? message['kill'] : undefined
    if (typeof id === 'number') void listening.get(id)?.kill()
  }
  let environment: Readonly<Record<string, string>> = {}
  const startInstance = async (id: number): Promise<void> => {
    // The fleet listens on this machine only, for any environment.
    const own = { PORT: '0', HOST: '127.0.0.1', INSTANCE: String(id) }
    const child = await startChild(module, { ...environment, ...own }, handleMessage)
    if (stopping) return child.stop()
    listening.set(id, child)
    changes.dispatchEvent(new Event('change'))
    void child.exited.then(() => {
      listening.delete(id)
      if (!stopping) startInstance(++last).catch((error) => stopping || onFailure(error))
    })
  }

  const inOrder = () => [...listening.keys()].sort((a, b) => a - b)
  const balancer = await startBalancer(port, () => inOrder().flatMap((id) => listening.get(id)?.port ?? []))
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
    listening: inOrder,
    kill: async (id) => listening.get(id)?.kill(),
    complete: async (signal) => {
      while (listening.size < count) await nextChange(changes, signal)
    },
    stop,
  }
}

function nextChange(changes: EventTarget, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    changes.addEventListener('change', () => resolve(), { once: true })
  })
}
