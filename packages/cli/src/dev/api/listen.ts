import { createServer, type Server } from 'node:http'
import { CliError } from '../../cli-error.ts'

const defaultPort = 6280
const portCount = 20

/** On a port of this machine: the given one, else the first free one from 6280 on. */
export async function listen(givenPort?: number): Promise<Server> {
  for (let port = givenPort ?? defaultPort; ; port += 1) {
    const server = createServer()
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, '127.0.0.1', resolve)
      })
      return server
    } catch (error) {
      const isUsed = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (isUsed && givenPort !== undefined)
        throw new CliError('failure', `127.0.0.1:${port} is in use: stop what listens there, or give another port`)
      if (!isUsed || port >= defaultPort + portCount) throw error
    }
  }
}
