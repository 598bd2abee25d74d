import { connect, createServer } from 'node:net'
import { listenLocally } from './listen-locally.ts'

/** A balancer that distributes connections in turn among loopback ports. */
export interface TcpBalancer extends Disposable {
  readonly url: string
}

/** Starts a balancer of connections. It closes both ends of one together. */
export async function startTcpBalancer(ports: readonly number[]): Promise<TcpBalancer> {
  let turn = 0
  const server = createServer((near) => {
    const far = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  const url = `http://127.0.0.1:${await listenLocally(server)}`
  return { url, [Symbol.dispose]: () => void server.close() }
}
