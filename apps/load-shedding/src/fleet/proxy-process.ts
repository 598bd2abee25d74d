import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { UsageError } from '@apps/front/usage'

/**
 * Finds the path of a program. Debian installs servers in folders outside the PATH of an ordinary user. Throws a
 * `UsageError` if the program is missing.
 */
export function findProgram(name: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new UsageError(
    `--balancer ${name} needs ${name}: apt-get install ${name}, or omit the option for Node's cluster`,
  )
}

/** A running proxy that listens. */
export interface ProxyProcess {
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Starts a proxy. Resolves when its port accepts connections; rejects with its error output if it ends before that. */
export async function startProxy(program: string, parameters: readonly string[], port: number): Promise<ProxyProcess> {
  const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errorOutput = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errorOutput.length < 4000) errorOutput += text
  })
  const ended = once(child, 'close')
  // The proxy must not outlive this process. Only after SIGKILL to this process would it continue.
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${program} did not start: ${errorOutput}`)
    await setTimeout(20)
  }
  return {
    signal: (name) => void child.kill(name),
    async stop() {
      process.off('exit', kill)
      if (!hasEnded(child)) child.kill()
      await ended
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return opened
}
