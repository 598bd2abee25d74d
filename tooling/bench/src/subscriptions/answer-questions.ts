import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A question of the benchmark to a server. */
export interface ServerQuestion {
  readonly ask: 'url' | 'cpu' | 'memory' | 'change'
}

/** The answer of a server. The benchmark reads the fields that belong to its question. */
export interface ServerAnswer {
  readonly url: string
  /** Microseconds of CPU that the process has used, user and system. */
  readonly cpuMicroseconds: number
  /** Bytes of heap in use after full collections. */
  readonly heapBytes: number
  /** Bytes of resident memory of the process. */
  readonly residentBytes: number
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Listens on a free port, and answers the questions of the benchmark. `change` notifies all streams of a change. */
export function answerQuestions(server: Server, change: () => void): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    // The server ends with its parent process, however that ends.
    process.once('disconnect', () => process.exit())
    process.on('message', ({ ask }: ServerQuestion) => {
      if (ask === 'change') change()
      void answer(server, ask).then((answered) => process.send?.(answered))
    })
  })
}

async function answer(server: Server, ask: ServerQuestion['ask']): Promise<ServerAnswer> {
  for (let round = 0; ask === 'memory' && round < 4; round += 1) {
    // In this time the ends of closed connections arrive, and the callbacks of finalizers run.
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
