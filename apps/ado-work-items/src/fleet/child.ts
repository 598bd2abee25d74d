import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { isJsonObject } from '@x/schema'

/** A child process that listens on a port of its own. */
export interface Child {
  readonly port: number
  readonly pid: number | undefined
  readonly exited: Promise<void>
  /** Kills the process with SIGKILL, and resolves when it has exited. */
  kill(): Promise<void>
  /** Asks the process to exit, and kills it after 12 seconds. */
  stop(): Promise<void>
}

const stopMs = 12_000

/**
 * Starts a module as a child process. The module has to send `{ port }` when it listens, and to exit when the IPC
 * channel closes, so that it never outlives this process. `onMessage` receives its later messages. Rejects if the
 * process exits before it listens.
 */
export async function startChild(
  module: URL,
  environment: Readonly<Record<string, string>>,
  onMessage?: (message: unknown) => void,
): Promise<Child> {
  // A process group of its own keeps Ctrl-C in a terminal from the child: this process decides when it stops. Its
  // standard output goes to the standard error, because the standard output of this process may carry the protocol.
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
    return { port, pid: child.pid, exited, kill, stop }
  } catch (error) {
    // Without this, the child would keep running, and keep this process from exiting.
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

/** Sends the port to the parent process. Runs `close` and exits when the channel to the parent closes. */
export function serveParent(port: number, close: () => Promise<void>): void {
  process.once('disconnect', () => {
    void close().finally(() => process.exit(0))
  })
  process.send?.({ port })
}
