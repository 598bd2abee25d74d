import cluster from 'node:cluster'
import { freePort } from './free-port.ts'
import { type Balancer, type BalancerOptions, builtArguments } from './balancer.ts'

/** Node's own cluster: this process listens, and hands connections to the instances by turns. */
export async function openCluster({ port: requestedPort, module }: BalancerOptions): Promise<Balancer> {
  const port = await freePort(requestedPort)
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ exec: module, args: [], execArgv: [...builtArguments] })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    // A connection that was handed over before the notice has its request read within this time, though the instance is
    // overloaded.
    noticeMs: 1_000,
    start(_, environment) {
      const worker = cluster.fork({ ...environment, PORT: String(port) })
      // The cluster still answers an instance that has just ended. The event `exit` reports its end.
      worker.on('error', () => {})
      return worker.process
    },
    setReadyLanes() {},
    async stop() {},
  }
}
