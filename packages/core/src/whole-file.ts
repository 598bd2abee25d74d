import { open, rename, rm } from 'node:fs/promises'
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
 * Replaces a file, or creates it: a reader gets the whole old text or the whole new one, even if this process ends in
 * between.
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const newPath = `${path}.${randomId()}`
  await createFile(newPath, text, mode)
  try {
    await rename(newPath, path)
  } catch (error) {
    await rm(newPath, { force: true })
    throw error
  }
}
