import type { Host } from '../platform/virtual-time.ts'
import type { RemoteService } from '../services/remote.ts'

/** Chooses the process of each request, in turn among the registered ones. As a service, it is the way to them. */
export interface Balancer extends RemoteService {
  add(host: Host): void
  remove(host: Host): void
  has(host: Host): boolean
  /** Returns undefined if there is no process. */
  pick(): Host | undefined
}

/** Creates a balancer without processes. `host` has its name. */
export function createBalancer(host: Host): Balancer {
  const hosts: Host[] = []
  let requestCount = 0
  return {
    host,
    availability: 'available',
    add: (added) => void hosts.push(added),
    remove: (removed) => {
      if (hosts.includes(removed)) hosts.splice(hosts.indexOf(removed), 1)
    },
    has: (host) => hosts.includes(host),
    pick: () => hosts[requestCount++ % Math.max(1, hosts.length)],
  }
}
