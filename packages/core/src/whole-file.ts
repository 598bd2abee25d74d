import { chown, open, rename, rm, stat } from 'node:fs/promises'
import { randomId } from './random-id.ts'

/** Creates a file with a text and the permissions `mode`. A file that could not be written, on a full disk, is removed. */
export async function createFile(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/**
 * Replaces a file, or creates it with the permissions `mode`: a reader gets the whole old text or the whole new one, even
 * if this process ends in between. A file that exists keeps its permissions, and its owner if this process may set it: a
 * server may read what its operator writes.
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const newPath = `${path}.${randomId()}`
  const old = await stat(path).catch(() => undefined)
  await createFile(newPath, text, old === undefined ? mode : old.mode & 0o777)
  try {
    if (old !== undefined) await chown(newPath, old.uid, old.gid).catch(() => {})
    await rename(newPath, path)
  } catch (error) {
    await rm(newPath, { force: true })
    throw error
  }
}
