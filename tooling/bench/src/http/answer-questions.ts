import type { Server } from 'node:http'

/** What the benchmark asks of a server. */
export type ServerQuestion = { readonly ask: 'url' } | { readonly ask: 'cpu' }

/** A server's answers: its endpoint, or the use of its process: microseconds of CPU, user and system, and memory. */
export interface ServerAnswer {
  readonly url?: string
  readonly cpuMicroseconds?: number
  /** The largest resident memory until now. */
  readonly residentBytes?: number
}

/** Listens on a free port and answers the benchmark's questions over the channel of this process. */
export function answerQuestions(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    // When the benchmark is gone, however it ended, so is its server.
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
