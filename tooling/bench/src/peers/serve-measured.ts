import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

// This file imports nothing but Node, because it is copied into the folder of an install with the servers.

/** A question of the benchmark to a server: its use of CPU and memory, also when no connection is open, or a change. */
export type ServerQuestion = 'usage' | 'memory' | 'idle memory' | 'change'

/** What the process of a server has used. */
export interface Usage {
  readonly url: string
  /** Microseconds of CPU, user and system, of all threads. */
  readonly cpu: number
  /** Bytes of heap, after full collections if the question was for memory. */
  readonly heapBytes: number
  readonly residentBytes: number
  readonly peakBytes: number
}

/** Answers the questions of the benchmark, until its process ends. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer | Promise<Answer>): void {
  process.once('disconnect', () => process.exit())
  process.on('message', (question: Question) => {
    // The benchmark waits for an answer, so a failure ends the process.
    void Promise.resolve(answer(question)).then((given) => process.send?.(given))
  })
}

/** Reports CPU and memory of this process to the benchmark. */
export function reportUsage(
  url: string,
  { change = () => {}, idle = async () => {} }: { change?: (() => void) | undefined; idle?: () => Promise<void> } = {},
): void {
  answerQuestions(async (question: ServerQuestion): Promise<Usage> => {
    if (question === 'change') change()
    if (question === 'idle memory') await idle()
    if (question.endsWith('memory')) await collectGarbage()
    const { user, system } = process.cpuUsage()
    const { heapUsed, rss } = process.memoryUsage()
    const peakBytes = process.resourceUsage().maxRSS * 1024
    return { url, cpu: user + system, heapBytes: heapUsed, residentBytes: rss, peakBytes }
  })
}

/** Listens on a free port, and reports CPU and memory to the benchmark. */
export async function serveMeasured(server: Server, change?: () => void): Promise<void> {
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
      if (connections === 0) server.emit('idle')
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  const idle = async (): Promise<void> => void (connections > 0 && (await once(server, 'idle')))
  reportUsage(`http://127.0.0.1:${port}/mcp`, { change, idle })
}

let collect: (() => void) | undefined

/** Collects all garbage. Node needs no flag for it. */
export async function collectGarbage(): Promise<void> {
  if (collect === undefined) {
    const { setFlagsFromString } = await import('node:v8')
    const { runInNewContext } = await import('node:vm')
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  for (let round = 0; round < 4; round += 1) {
    // Timers and the callbacks of finalizers run before the next collection.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}
