import { createHash } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '@x/core'
import { type LockLimits, lockFile, pauseForLock, replaceFile } from '@x/core/node'
import type { AuthStore } from '../client/store.ts'

/** A login never takes fifteen minutes. */
const loginLimits: LockLimits = { elsewhereMs: 30_000, runningMs: 900_000 }

/** Options of {@link fileStore}. */
export interface FileStoreOptions {
  /** Folder of the files. Default: `mcp-auth` in a folder called `name` within the person's configuration folder. */
  readonly folder?: string | undefined
}

/**
 * Keeps records as files that only the person can read. All processes of the person share the store, and one at a time
 * logs in or refreshes a token. Throws a `TypeError` if `name` is not a valid name for a folder.
 */
export function fileStore(name: string, options: FileStoreOptions = {}): AuthStore {
  if (typeof name !== 'string' || !/^[\w.@-]+$/.test(name) || name.startsWith('.')) {
    throw new TypeError(`The name of the store must be a folder's name, not ${JSON.stringify(name)}`)
  }
  const folder = options.folder ?? join(findConfigFolder(), name, 'mcp-auth')
  // A key contains URLs. As a hash, it is a file name on every file system.
  const pathOf = (key: string): string => join(folder, createHash('sha256').update(key).digest('hex'))
  const createFolder = (): Promise<unknown> => mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    get: (key) => readTextFile(`${pathOf(key)}.txt`),
    set: async (key, value) => {
      await createFolder()
      await replaceFile(`${pathOf(key)}.txt`, value, 0o600)
    },
    delete: (key) => rm(`${pathOf(key)}.txt`, { force: true }),
    lock: async (key, run) => {
      await createFolder()
      const unlock = await lockFile(`${pathOf(key)}.lock`, loginLimits, pauseForLock)
      try {
        return await run()
      } finally {
        await unlock()
      }
    },
  }
}

function findConfigFolder(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env
  if (process.platform === 'win32') return APPDATA ?? join(homedir(), 'AppData', 'Roaming')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  return XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : join(homedir(), '.config')
}

async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
