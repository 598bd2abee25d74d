import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'

/** Starts a program by its name, without a shell. */
export type Spawn = (command: string, args: string[], options: SpawnOptions) => ChildProcess

/** How programs are started here. */
export interface Spawner {
  readonly spawn: Spawn
  /** What is missing to start every kind of program. */
  readonly lack?: string | undefined
}

/**
 * On Windows most servers are started by a `.cmd` file, such as `npx`, which Node's own `spawn` neither finds nor runs: there the package
 * `cross-spawn` starts them, if it is installed. Elsewhere it would do nothing, and is not loaded.
 */
export async function spawnerOf(
  platform: NodeJS.Platform,
  load: () => Promise<{ readonly default: Spawn }> = () => import('cross-spawn'),
): Promise<Spawner> {
  if (platform !== 'win32') return { spawn }
  try {
    return { spawn: (await load()).default }
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    return { spawn, lack: 'on Windows npx and other .cmd files need the package cross-spawn: npm install cross-spawn' }
  }
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  // A package that is there and lacks one of its own is another mistake.
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'cross-spawn'")
}
