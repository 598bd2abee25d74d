import type { Server } from 'node:http'

/** A question of the benchmark to a server. */
export type ServerQuestion = { readonly ask: 'url' } | { readonly ask: 'cpu' }

/** The answer of a server: its endpoint, or the CPU time (user and system) and the memory of its process. */
export interface ServerAnswer {
  readonly url?: string
  readonly cpuMicroseconds?: number
  /** The peak of the resident memory. */
  readonly residentBytes?: number
}

/** Listens on a free port and answers the benchmark's questions over the channel of this process. */
export function answerQuestions(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    // The server ends with its parent process, however that ends.
    process.once('disconnect', () => process.exit())
    process.on('message', ({ ask }: ServerQuestion) => {
      process.send?.(ask === 'url' ? { url: `http://127.0.0.1:${port}/mcp` } : usage())
    })
  })
}

function usage(): ServerAnswer {
  const { user, system } = process.cpuUsage()
  return { cpuMicroseconds: user + system, residentBytes: process.resourceUsage().maxRSS * 1024 }
}
