import { once } from 'node:events'
import { createServer } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/**
 * The port of this machine, or a free one for 0, after a look whether it can be had. Throws a `UsageError` when not.
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

/** As many free ports, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
