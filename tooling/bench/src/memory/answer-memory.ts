import { once } from 'node:events'
import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What the benchmark asks of the server. */
export interface MemoryQuestion {
  readonly ask: 'url' | 'memory'
}

/** The server's endpoint, and the bytes that are in use once everything that can be collected was. */
export interface MemoryAnswer {
  readonly url: string
  /** Of V8's heap. */
  readonly heapBytes: number
  /** Of the whole process. */
  readonly residentBytes: number
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/**
 * Listens on a free port and answers questions. It looks at its memory when no connection is left, so that the load has
 * to close its own.
 */
export function answerMemory(server: Server): void {
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
      if (connections === 0) server.emit('idle')
    })
  })
  const readMemory = async (): Promise<MemoryAnswer> => {
    if (connections > 0) await once(server, 'idle')
    await collectAll()
    const { heapUsed, rss } = process.memoryUsage()
    return { url: urlOf(server), heapBytes: heapUsed, residentBytes: rss }
  }
  server.listen({ port: 0, host: '127.0.0.1' }, () => {
    // When the benchmark is gone, however it ended, so is its server.
    process.once('disconnect', () => process.exit())
    process.on('message', ({ ask }: MemoryQuestion) => {
      if (ask === 'memory') void readMemory().then((answer) => process.send?.(answer))
      else process.send?.({ url: urlOf(server), heapBytes: 0, residentBytes: 0 })
    })
  })
}

async function collectAll(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    // Timers and what finalizers left have their turn before the next collection.
    await setImmediate()
    collect()
  }
}

function urlOf(server: Server): string {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`
}
