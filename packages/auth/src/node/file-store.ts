import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AuthStore } from '../client/store.ts'
import { withFileLock } from './file-lock.ts'

/** Location of the files. */
export interface FileStoreOptions {
  /** Default: a folder of `name` in the person's configuration folder. */
  readonly folder?: string | undefined
}

/**
 * Keeps logins in files that only the person can read, one for each record. Processes of the person share them: one at
 * a time logs in or refreshes. Throws a `TypeError` for a name that is no folder's.
 */
export function fileStore(name: string, options: FileStoreOptions = {}): AuthStore {
  if (!/^[\w.@-]+$/.test(name) || name.startsWith('.')) {
    throw new TypeError(`The name of the store must be a folder's name, not ${JSON.stringify(name)}`)
  }
  const folder = options.folder ?? join(findConfigFolder(), name, 'mcp-auth')
  // Keys hold addresses: their hashes are names that every file system takes.
  const pathOf = (key: string): string => join(folder, createHash('sha256').update(key).digest('hex'))
  const createFolder = (): Promise<unknown> => mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    get: (key) => readTextFile(`${pathOf(key)}.txt`),
    set: async (key, value) => {
      await createFolder()
      await replaceFile(`${pathOf(key)}.txt`, value)
    },
    delete: (key) => rm(`${pathOf(key)}.txt`, { force: true }),
    lock: async (key, run) => {
      await createFolder()
      return withFileLock(`${pathOf(key)}.lock`, run)
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
    if (isMissingFile(error)) return undefined
    throw error
  }
}

/** Writes a temporary file and renames it: a reader, or a process that ends, leaves the old text or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporaryFile = `${path}.${randomUUID()}`
  try {
    const file = await open(temporaryFile, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporaryFile, path)
  } catch (error) {
    await rm(temporaryFile, { force: true })
    throw error
  }
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
