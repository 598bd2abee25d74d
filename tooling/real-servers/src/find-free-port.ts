import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections and to servers without a port: between the moment in which a
 * port is found and that in which a program listens there, neither can take it.
 */
const [lowest, highest] = [20_000, 32_767]

/** Returns a port of this machine on which no program listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
