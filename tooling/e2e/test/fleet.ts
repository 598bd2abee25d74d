import type { Exchange } from '@x/schema'
import type { Definition, Serve, Served } from './over-every-transport.ts'

/** Several instances behind a balancer that sends every request to the next one, independent of the client. */
export interface Fleet extends AsyncDisposable {
  readonly exchange: Exchange
  /** The number of requests that each instance has served, in the order of the instances. */
  readonly served: readonly number[]
  /** Ends an instance during its work. The balancer sends it no more requests. */
  kill(place: number): Promise<void>
  /** Takes an instance out of the turn, waits for what it serves, ends it, and puts another one in its place. */
  restart(place: number, definition: Definition): Promise<void>
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

  const take = (place: number): Instance | undefined => {
    const instance = instances[place]
    instances[place] = undefined
    return instance
  }
  const next = (): { readonly instance: Instance; readonly place: number } => {
    for (let tries = 0; tries < instances.length; tries += 1) {
      const place = turn % instances.length
      turn += 1
      const instance = instances[place]
      if (instance !== undefined) return { instance, place }
    }
    throw new Error('every instance is gone')
  }

  return {
    served,
    exchange: async (request, call) => {
      const { instance, place } = next()
      served[place] = (served[place] ?? 0) + 1
      const response = instance.exchange(request, call)
      instance.running.add(response)
      return response.finally(() => instance.running.delete(response))
    },
    kill: async (place) => take(place)?.server[Symbol.asyncDispose](),
    restart: async (place, definition) => {
      const old = take(place)
      await Promise.allSettled(old?.running ?? [])
      await old?.server[Symbol.asyncDispose]()
      instances[place] = await start(definition)
    },
    [Symbol.asyncDispose]: async () => {
      for (const instance of instances) await instance?.server[Symbol.asyncDispose]()
    },
  }
}
