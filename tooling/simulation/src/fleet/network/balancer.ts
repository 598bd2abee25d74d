import type { FetchHandler } from '@x/transport-http'
import type { Host } from '../platform/virtual-time.ts'

/** An instance that receives requests of a balancer. */
export interface Endpoint {
  readonly host: Host
  readonly handle: FetchHandler
}

/** Chooses the instance of each request, in turn among the registered ones. */
export interface Balancer {
  add(endpoint: Endpoint): void
  remove(host: Host): void
  /** Returns undefined if there is no instance. */
  pick(headers: readonly (readonly [string, string])[]): Endpoint | undefined
}

/** Creates a balancer without instances. */
export function createBalancer(): Balancer {
  const endpoints: Endpoint[] = []
  let requestCount = 0
  return {
    add: (endpoint) => void endpoints.push(endpoint),
    remove: (host) => {
      const index = endpoints.findIndex((endpoint) => endpoint.host === host)
      if (index >= 0) endpoints.splice(index, 1)
    },
    pick: () => endpoints[requestCount++ % Math.max(1, endpoints.length)],
  }
}
