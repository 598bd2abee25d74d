import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What the benchmark asks of a server. */
export interface ServerQuestion {
  readonly ask: 'url' | 'cpu' | 'memory' | 'change'
}

/** A server's answer, of which each question has its part. */
export interface ServerAnswer {
  readonly url: string
  /** Microseconds that the process has used, user and system. */
  readonly cpuMicroseconds: number
  /**
   * Bytes in use on the heap after everything that can be collected was, and beside them those of the whole process.
   */
  readonly heapBytes: number
  readonly residentBytes: number
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Listens on a free port and answers the benchmark's questions; `change` tells all streams of a change. */
export function answerQuestions(server: Server, change: () => void): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    // When the benchmark is gone, however it ended, so is its server.
    process.once('disconnect', () => process.exit())
    process.on('message', ({ ask }: ServerQuestion) => {
      if (ask === 'change') change()
      void answer(server, ask).then((answered) => process.send?.(answered))
    })
  })
}

async function answer(server: Server, ask: ServerQuestion['ask']): Promise<ServerAnswer> {
  for (let round = 0; ask === 'memory' && round < 4; round += 1) {
    // The ends of connections that were closed have to arrive, and what finalizers left has its turn.
    await delay(100)
    collect()
  }
  const address = server.address()
  const { user, system } = process.cpuUsage()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`,
    cpuMicroseconds: user + system,
    heapBytes: heapUsed,
    residentBytes: rss,
  }
}
