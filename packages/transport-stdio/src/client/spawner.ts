import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { isMissingModuleError } from '@x/core'

export type Spawn = (command: string, args: string[], options: SpawnOptions) => ChildProcess

export interface Spawner {
  readonly spawn: Spawn
  /** Which programs it cannot start, and the remedy. */
  readonly limitation?: string | undefined
}

/**
 * On Windows most servers start through a `.cmd` file, such as `npx`, which Node's `spawn` neither finds nor runs.
 * `cross-spawn` does, and is used if it is installed; on other platforms it is not even loaded.
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
  // If `cross-spawn` is there and one of its dependencies is not, the error names another package.
  return isMissingModuleError(error) && error.message.includes("'cross-spawn'")
}
