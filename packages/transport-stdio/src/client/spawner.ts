import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'

/** Starts a program by its name, without a shell. */
export type Spawn = (command: string, args: string[], options: SpawnOptions) => ChildProcess

/** The function that starts programs on this platform. */
export interface Spawner {
  readonly spawn: Spawn
  /** The kind of programs that this function cannot start, and the remedy. */
  readonly limitation?: string | undefined
}

/**
 * Selects the function that starts programs. On Windows most servers start through a `.cmd` file, such as `npx`, and
 * Node's `spawn` neither finds nor runs these files. The package `cross-spawn` can start them, and is used if it is
 * installed. On other platforms it is not loaded.
 */
export async function selectSpawner(
  platform: NodeJS.Platform,
  loadSpawn: () => Promise<{ readonly default: Spawn }> = () => import('cross-spawn'),
): Promise<Spawner> {
  if (platform !== 'win32') return { spawn }
  try {
    return { spawn: (await loadSpawn()).default }
  } catch (cause) {
    if (!isPackageMissing(cause)) throw cause
    return {
      spawn,
      limitation: 'on Windows npx and other .cmd files need the package cross-spawn: npm install cross-spawn',
    }
  }
}

function isPackageMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  // If `cross-spawn` is installed but one of its dependencies is missing, the error names another package.
  return error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'cross-spawn'")
}
