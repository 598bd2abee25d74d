import { once } from 'node:events'
import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A question of the benchmark to the server. */
export interface MemoryQuestion {
  readonly ask: 'url' | 'memory'
}

/** The endpoint of the server, and the bytes in use after full collections. */
export interface MemoryAnswer {
  readonly url: string
  /** Bytes of V8's heap. */
  readonly heapBytes: number
  /** Bytes of resident memory of the process. */
  readonly residentBytes: number
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/**
 * Listens on a free port, and answers questions. It reads its memory when no connection is open, so the load must close
 * its connections.
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
    // The server ends with its parent process, however that ends.
    process.once('disconnect', () => process.exit())
    process.on('message', ({ ask }: MemoryQuestion) => {
      if (ask === 'memory') void readMemory().then((answer) => process.send?.(answer))
      else process.send?.({ url: urlOf(server), heapBytes: 0, residentBytes: 0 })
    })
  })
}

async function collectAll(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    // Timers and the callbacks of finalizers run before the next collection.
    await setImmediate()
    collect()
  }
}

function urlOf(server: Server): string {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`
}
