import { once } from 'node:events'
import type { Server } from 'node:net'

/** Listens on the loopback address, at a free port unless one is given, and resolves to the port. */
export async function listenLocally(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('A server on a port has an address with a port')
  return address.port
}
