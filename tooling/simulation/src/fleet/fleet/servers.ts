import { serveHttp } from '@x/transport-http/node'
import { createBalancer } from '../network/balancer.ts'
import { createNetwork, type Network } from '../network/network.ts'
import { ports } from '../network/ports.ts'
import type { RemoteService } from '../services/remote.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { spawnDesk } from './desk.ts'
import { startGateway } from './gateway.ts'
import { createInstanceServer, findCaller } from './instance.ts'
import { createKeyRotation, type KeyRotation } from './key-rotation.ts'

/** The instances of the fleet, and of the gateway. */
const instanceCount = 3
const gatewayCount = 2

/** The server that clients call. Behind a gateway are the fleet, and a server in a child process. */
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
  const [toFleet, toGateway] = [
    createBalancer(time.addHost('fleet path')),
    createBalancer(time.addHost('gateway path')),
  ]
  const balancers = new Map([
    [String(ports.fleet), toFleet],
    [String(ports.gateway), toGateway],
  ])
  const network = createNetwork(time, faults, balancers)
  const rotation = createKeyRotation()
  const optionsOf = (version: number) => ({ ...deps, network, keys: rotation.keysOf(version) })
  const shared = { ...deps, network, checksReadiness: false, balancer: toFleet }
  const fleet = createFleet({
    ...shared,
    name: 'server',
    startServer: async (host, version) => {
      const instance = createInstanceServer(host, version, optionsOf(version))
      const { close } = await serveHttp(instance, { port: ports.fleet, auth: findCaller })
      return { server: instance, close }
    },
  })
  for (let count = 0; count < instanceCount; count += 1) fleet.start()
  if (server === 'fleet') return { fleets: [fleet], network, rotation, upstreamPaths: [] }
  const desks = createFleet({ ...shared, name: 'desk' })
  const gateways = createFleet({
    ...shared,
    name: 'gateway',
    balancer: toGateway,
    checksReadiness: true,
    startServer: (host, version) => {
      host.spawn = () => spawnDesk(host, desks, optionsOf(version))
      return startGateway(host, optionsOf(version))
    },
  })
  for (let count = 0; count < gatewayCount; count += 1) gateways.start()
  return { fleets: [fleet, desks, gateways], network, rotation, upstreamPaths: [toFleet] }
}
