import { createBalancer } from '../network/balancer.ts'
import { createNetwork, type Network } from '../network/network.ts'
import { ports } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { RemoteService } from '../services/remote.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { startGateway } from './gateway.ts'
import { startInstance } from './instance.ts'
import { createKeyRotation, type KeyRotation } from './key-rotation.ts'

/** The beginning of the names of processes, and the number of instances of each server. */
const servers = {
  fleet: { prefix: 'server', size: 3 },
  desk: { prefix: 'desk', size: 1 },
  gateway: { prefix: 'gateway', size: 2 },
} as const

/** The server that clients call. Behind a gateway are the fleet, and a server with one process. */
export type ServerName = 'fleet' | 'gateway'

interface ServerDeps extends SimulationContext {
  readonly services: Services
  readonly hardLimit: number
  readonly server: ServerName
}

/** The servers of a simulation, and the network between them and the clients. */
export interface Servers {
  readonly fleets: readonly Fleet[]
  readonly network: Network
  readonly rotation: KeyRotation
  /** The ways from a gateway to its upstreams. */
  readonly upstreamPaths: readonly RemoteService[]
}

/** Starts the instances of all servers. */
export function createServers(deps: ServerDeps): Servers {
  const { time, faults, server } = deps
  const names = server === 'gateway' ? (['fleet', 'desk', 'gateway'] as const) : (['fleet'] as const)
  const routes = names.map((name) => ({ name, balancer: createBalancer(time.addHost(`path to ${name}`)) }))
  const network = createNetwork(
    time,
    faults,
    new Map(routes.map((route) => [String(ports[route.name]), route.balancer])),
  )
  const rotation = createKeyRotation()
  const fleets = routes.map(({ name, balancer }) => {
    const startServer = (host: Host, version: number): ReturnType<typeof startGateway> => {
      const options = { ...deps, network, keys: rotation.keysOf(version), port: ports[name] }
      return name === 'gateway' ? startGateway(host, options) : startInstance(host, version, options)
    }
    const { prefix, size } = servers[name]
    const isGateway = name === 'gateway'
    const fleet = createFleet({ ...deps, name: prefix, network, balancer, checksReadiness: isGateway, startServer })
    for (let count = 0; count < size; count += 1) fleet.start()
    return fleet
  })
  const upstreamPaths = server === 'gateway' ? routes.slice(0, -1).map(({ balancer }) => balancer) : []
  return { fleets, network, rotation, upstreamPaths }
}
