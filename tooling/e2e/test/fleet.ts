import type { Exchange } from '@x/exchange'
import type { Definition, Serve, Served } from './over-every-transport.ts'

/** Several instances behind a balancer that distributes requests in turn, regardless of the client. */
export interface Fleet extends AsyncDisposable {
  readonly exchange: Exchange
  /** The number of requests that each instance has received, by the index of the instance. */
  readonly served: readonly number[]
  /** Kills an instance during its work. It receives no further requests. */
  kill(index: number): Promise<void>
  /** Removes an instance from the balancer, waits for its open requests, stops it, and starts a replacement. */
  restart(index: number, definition: Definition): Promise<void>
}

interface Instance {
  readonly server: Served
  readonly exchange: Exchange
  readonly running: Set<Promise<unknown>>
}

/** Starts an instance for each definition. */
export async function startFleet(serve: Serve, definitions: readonly Definition[]): Promise<Fleet> {
  const start = async (definition: Definition): Promise<Instance> => {
    const server = await serve(definition)
    return { server, exchange: server.connect().exchange, running: new Set() }
  }
  const instances: (Instance | undefined)[] = await Promise.all(definitions.map(start))
  const served = definitions.map(() => 0)
  let turn = 0

  const remove = (index: number): Instance | undefined => {
    const instance = instances[index]
    instances[index] = undefined
    return instance
  }
  const next = (): { readonly instance: Instance; readonly index: number } => {
    for (let tries = 0; tries < instances.length; tries += 1) {
      const index = turn % instances.length
      turn += 1
      const instance = instances[index]
      if (instance !== undefined) return { instance, index }
    }
    throw new Error('no instance is running')
  }

  return {
    served,
    exchange: async (request, call) => {
      const { instance, index } = next()
      served[index] = (served[index] ?? 0) + 1
      const response = instance.exchange(request, call)
      instance.running.add(response)
      return response.finally(() => instance.running.delete(response))
    },
    kill: async (index) => remove(index)?.server[Symbol.asyncDispose](),
    restart: async (index, definition) => {
      const old = remove(index)
      await Promise.allSettled(old?.running ?? [])
      await old?.server[Symbol.asyncDispose]()
      instances[index] = await start(definition)
    },
    [Symbol.asyncDispose]: async () => {
      for (const instance of instances) await instance?.server[Symbol.asyncDispose]()
    },
  }
}
