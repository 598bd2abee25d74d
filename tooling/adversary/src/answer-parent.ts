import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A question of the parent process; `id` joins it with its answer. */
export interface Question {
  readonly id: number
  readonly ask: string
  readonly with: unknown
}

/** The answer to the question of the same id. */
export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** The memory of the process once what can be collected was, and what is open in it. */
export interface Memory {
  /** The bytes of V8's heap and of the buffers outside it. */
  readonly bytes: number
  /** The connections of the process. */
  readonly sockets: number
  /** The properties that somebody put on `Object.prototype`. */
  readonly polluted: readonly string[]
}

type Handler = (given: never) => unknown

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/**
 * Answers the questions of the parent process, those about CPU time and memory included, and ends when the parent has
 * gone.
 */
export function answerParent(handlers: Readonly<Record<string, Handler>>): void {
  const known = new Map<string, Handler>(Object.entries({ ...handlers, cpu, memory }))
  process.once('disconnect', () => process.exit())
  process.on('message', (question: Question) => void answer(question))

  async function answer({ id, ask, with: given }: Question): Promise<void> {
    try {
      // Both ends are of this package: a question comes with what its handler takes.
      const value = await known.get(ask)?.(given as never)
      process.send?.({ id, value } satisfies Answer)
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answer)
    }
  }
}

/** The CPU time of every thread of this process, in milliseconds. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Looks at the memory, once at most `sockets` connections are left; it waits for that for ten seconds. */
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
