import { once } from 'node:events'
import { createServer } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/**
 * Checks that a loopback port is free, and returns it. For 0 it returns any free port. Throws a `UsageError` if another
 * program uses the port.
 */
export async function freePort(requestedPort = 0): Promise<number> {
  const server = createServer()
  try {
    server.listen(requestedPort, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    throw portRefusal(error, requestedPort)
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return address !== null && typeof address === 'object' ? address.port : requestedPort
}

/** Returns distinct free ports. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
