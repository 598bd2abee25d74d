import cluster from 'node:cluster'
import { freePort } from './free-port.ts'
import { type Balancer, type BalancerOptions, builtArguments } from './balancer.ts'

/**
 * Opens Node's cluster as a balancer. This process listens, and passes each connection to the next instance in turn.
 */
export async function openCluster({ port: requestedPort, module }: BalancerOptions): Promise<Balancer> {
  const port = await freePort(requestedPort)
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ exec: module, args: [], execArgv: [...builtArguments] })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    // Within this time even an overloaded instance reads the request of a connection that it received before the
    // notice.
    noticeMs: 1_000,
    start(_, environment) {
      const worker = cluster.fork({ ...environment, PORT: String(port) })
      // The cluster may write to the channel of a worker that has just ended. The event `exit` reports the end of the
      // worker.
      worker.on('error', () => {})
      return worker.process
    },
    setReadyLanes() {},
    async stop() {},
  }
}
