import { gateway, type Log } from '@x/gateway'
import type { HttpAuthorizer } from '@x/exchange'
import { sealedState } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { connectStdio } from '@x/transport-stdio'
import type { Network } from '../network/network.ts'
import { ports, urlOf } from '../network/ports.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { SimulationContext } from '../simulation-context.ts'
import type { Instance } from './fleet.ts'
import { callerHeader, findCaller } from './instance.ts'

/** The upstreams of a gateway: the fleet, and a server in a child process of the gateway. */
export const upstreamNames = ['fleet', 'desk'] as const

export interface GatewayDeps extends SimulationContext {
  readonly network: Network
  readonly keys: readonly string[]
}

/** Starts one instance of a gateway, which forwards each call to the fleet with the name of its caller. */
export async function startGateway(host: Host, deps: GatewayDeps): Promise<Omit<Instance, 'host'>> {
  const { network, trace, keys } = deps
  const authorizers = new Map<string, HttpAuthorizer>()
  const authorizerOf = (subject: string): HttpAuthorizer => {
    const known = authorizers.get(subject)
    const authorizer = known ?? { headers: () => ({ [callerHeader]: subject }), onResponse: () => undefined }
    authorizers.set(subject, authorizer)
    return authorizer
  }
  const log: Log = ({ level, message, err }) =>
    trace.add(host.name, `log: ${level}: ${err instanceof Error ? err.message : message}`)
  const server = gateway({
    name: 'gateway',
    version: '1.0.0',
    state: sealedState({ keys }),
    upstreams: {
      fleet: {
        connect: ({ auth }) => connectHttp(urlOf('fleet'), { fetch: network.fetchFor(host), auth }),
        credential: (principal) => authorizerOf(principal?.subject ?? ''),
        required: true,
      },
      desk: { connect: () => connectStdio({ command: 'desk', processGroup: false, log }), required: true },
    },
    log,
  })
  const http = await serveHttp(server, { port: ports.gateway, auth: findCaller })
  return { server, close: http.close }
}
