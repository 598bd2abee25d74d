import { createServer } from 'node:net'

/**
 * Returns a free port of 127.0.0.1: the given port, or any for 0. A stale server on a port that we believe ours would
 * be tested in its place.
 *
 * @throws Error when the port is taken.
 */
export function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause) => {
      reject(new Error(`port ${port} is taken: end what listens there, or leave --port out`, { cause }))
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}
