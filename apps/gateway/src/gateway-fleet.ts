import { startBalancer } from '@apps/ado-work-items/balancer'
import { type Child, startChild } from '@apps/ado-work-items/child'
import { isJsonObject } from '@x/schema'

/** Two instances of the gateway behind one port. */
export interface GatewayFleet {
  /** The address that hosts use. */
  readonly url: string
  /** The addresses of the instances. */
  readonly instanceUrls: readonly string[]
  /** Stops and starts one instance after the other, with more variables in their environment. */
  restart(environment: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
}

/** The options of {@link startGatewayFleet}. */
export interface GatewayFleetOptions {
  /** The port that the instances share; 0 picks a free one. */
  readonly port: number
  readonly environment: Readonly<Record<string, string>>
  /** Receives the error if an instance ends unexpectedly. */
  readonly onFailure: (error: Error) => void
  /** Receives each line of the logs of the instances. */
  readonly onLog: (line: string) => void
}

const indexes = [0, 1]
const endpoint = (port: number | undefined): string => `http://127.0.0.1:${port}/mcp`

/** Starts the instances and spreads requests over them by turns. */
export async function startGatewayFleet(options: GatewayFleetOptions): Promise<GatewayFleet> {
  const children = new Map<number, Child>()
  const start = async (index: number, environment: Readonly<Record<string, string>>): Promise<void> => {
    const child = await startChild(
      new URL('instance.js', import.meta.url),
      { ...options.environment, ...environment },
      (message) => {
        if (isJsonObject(message) && typeof message['log'] === 'string') options.onLog(message['log'])
      },
    )
    children.set(index, child)
    void child.exited.then(() => {
      if (children.get(index) === child) options.onFailure(new Error(`Instance ${index + 1} ended`))
    })
  }
  const end = async (index: number): Promise<number | undefined> => {
    const child = children.get(index)
    children.delete(index)
    await child?.stop()
    return child?.port
  }
  const balancer = await startBalancer(options.port, () => Array.from(children.values(), ({ port }) => port))
  const stop = async (): Promise<void> => {
    await balancer.close()
    await Promise.all(indexes.map(end))
  }
  const starts = await Promise.allSettled(indexes.map((index) => start(index, { PORT: '0' })))
  for (const started of starts) {
    if (started.status === 'fulfilled') continue
    await stop()
    throw started.reason
  }
  return {
    url: endpoint(balancer.port),
    instanceUrls: indexes.map((index) => endpoint(children.get(index)?.port)),
    async restart(environment) {
      for (const index of indexes) await start(index, { ...environment, PORT: String(await end(index)) })
    },
    stop,
  }
}
