import { createServer, type Server } from 'node:http'

/** The port of the page. If it is in use, the next free one is taken. */
const defaultPort = 6280
const portCount = 20

/** Listens on the first free port of this machine. */
export async function listen(firstPort: number = defaultPort): Promise<Server> {
  for (let port = firstPort; ; port += 1) {
    const server = createServer()
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, '127.0.0.1', resolve)
      })
      return server
    } catch (error) {
      const isUsed = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!isUsed || port === 0 || port >= firstPort + portCount) throw error
    }
  }
}
