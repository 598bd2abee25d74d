import { createServer } from 'node:net'

/**
 * Returns a free port of 127.0.0.1: the given port, or any for 0. Without this check, a stale server on the port is
 * tested instead of the fixture.
 *
 * @throws Error if the port is in use.
 */
export function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause) => {
      reject(new Error(`port ${port} is in use: stop the program that listens there, or omit --port`, { cause }))
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}
