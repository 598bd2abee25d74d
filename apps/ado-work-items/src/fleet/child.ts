import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { isJsonObject } from '@x/schema'

/** A process of this application that listens on a port of its own. */
export interface Child {
  readonly port: number
  readonly exited: Promise<void>
  /** Ends it without warning. */
  kill(): Promise<void>
  /** Lets it end by itself, and ends it when it takes too long. */
  stop(): Promise<void>
}

const stopMs = 12_000

/**
 * Starts a module as a process. It has to send `{ port }` when it listens, and to end when its channel to this process
 * closes: so it never outlives this process, however that ends. `onMessage` receives what it sends later. Rejects when it
 * ends before it listens.
 */
export async function startChild(
  module: URL,
  environment: Readonly<Record<string, string>>,
  onMessage?: (message: unknown) => void,
): Promise<Child> {
  // In a group of its own: a terminal sends Ctrl-C to every process of a group, and this one says when to stop.
  // Its output goes to the error output, as that of this process may be a protocol's.
  const child = fork(fileURLToPath(module), [], {
    env: { ...process.env, ...environment },
    detached: true,
    stdio: ['ignore', process.stderr, 'inherit', 'ipc'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const stop = async (): Promise<void> => {
    if (child.connected) child.disconnect()
    const late = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(late)
  }
  try {
    const port = await firstPort(child)
    if (onMessage !== undefined) child.on('message', onMessage)
    return { port, exited, kill, stop }
  } catch (error) {
    // Otherwise it would go on, and keep this process from ending.
    await kill()
    throw error
  }
}

async function firstPort(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnfile} ended before it listened, with exit code ${code}; its output says why`)
  })
  ended.catch(() => {})
  const [message] = await Promise.race([once(child, 'message'), ended])
  const port = isJsonObject(message) ? message['port'] : undefined
  if (typeof port !== 'number') throw new Error(`a process should send its port first, not ${JSON.stringify(message)}`)
  return port
}

/** For the process that was started: tells its port, and runs `close` when the channel to its parent closes. */
export function serveParent(port: number, close: () => Promise<void>): void {
  process.once('disconnect', () => {
    void close().finally(() => process.exit(0))
  })
  process.send?.({ port })
}
