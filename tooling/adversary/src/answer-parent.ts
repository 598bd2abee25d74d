import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A question of the parent process. Its answer has the same `id`. */
export interface Question {
  readonly id: number
  readonly ask: string
  readonly with: unknown
}

/** The answer to the question with the same id. */
export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** The memory of the process after full collections, and its open connections. */
export interface Memory {
  /** The bytes of V8's heap and of the buffers outside it. */
  readonly bytes: number
  /** The number of open connections. */
  readonly sockets: number
  /** The properties that were added to `Object.prototype`. */
  readonly polluted: readonly string[]
}

type Handler = (given: never) => unknown

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Answers the questions of the parent process, also those about CPU time and memory. Exits when the parent ends. */
export function answerParent(handlers: Readonly<Record<string, Handler>>): void {
  const known = new Map<string, Handler>(Object.entries({ ...handlers, cpu, memory }))
  process.once('disconnect', () => process.exit())
  process.on('message', (question: Question) => void answer(question))

  async function answer({ id, ask, with: given }: Question): Promise<void> {
    try {
      // This package has both ends of the channel, so the value has the type that the handler takes.
      const value = await known.get(ask)?.(given as never)
      process.send?.({ id, value } satisfies Answer)
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answer)
    }
  }
}

/** Returns the CPU time of all threads of this process, in milliseconds. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Reads the memory. First it waits up to ten seconds until at most `sockets` connections are open. */
async function memory({ sockets = Infinity }: { readonly sockets?: number }): Promise<Memory> {
  for (let wait = 0; wait < 1000 && openSockets() > sockets; wait += 1) await sleep(10)
  for (let round = 0; round < 4; round += 1) {
    // Timers and finalizers run between one collection and the next.
    await nextTick()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return { bytes: heapUsed + external, sockets: openSockets(), polluted: Object.keys(Object.prototype) }
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}
