import { existsSync, type FSWatcher, watch } from 'node:fs'
import { createLog, errorRecord, type Log } from '@x/core'
import type { SkillFile } from '../server/skill-file.ts'
import { readSkills } from './read-skills.ts'

/** Editors write a file in several steps, so the folder is read after so long without a change. */
const quietMs = 200

/** How often a folder that was removed is looked for. */
const missingFolderMs = 500

/**
 * Watches a folder of skills. Reads it again after each change and passes the files on, for example to
 * `server.skills.replace`. An error of reading or of `onChange` is logged, and the next change is awaited. If the folder
 * is removed, it is read and watched again once it is back. The returned function ends the watch.
 *
 * @example
 * const stopWatching = watchSkills('./skills', (files) => server.skills.replace(files))
 */
export function watchSkills(
  folder: string,
  onChange: (files: readonly SkillFile[]) => unknown,
  { log }: { /** Default: a log that writes lines to the standard error. */ readonly log?: Log | undefined } = {},
): () => void {
  const watchLog = createLog(log, '@x/skills')
  const report = (error: unknown): void => watchLog(errorRecord(error, { method: 'watchSkills', name: folder }))
  let timer: NodeJS.Timeout | undefined
  let pendingRead = Promise.resolve()
  let isStopped = false
  let isMissing = false
  const readLater = (ms: number): void => {
    clearTimeout(timer)
    // One after the other, so that an older content never replaces a newer one.
    timer = setTimeout(() => (pendingRead = pendingRead.then(readAgain)), ms)
  }
  const startWatcher = (): FSWatcher => watch(folder, { recursive: true }, () => readLater(quietMs)).on('error', report)
  const readAgain = async (): Promise<void> => {
    if (isStopped) return
    try {
      // A watcher stays with a folder that was removed, and ignores a new one of the same name.
      const nextWatcher = startWatcher()
      watcher.close()
      watcher = nextWatcher
      const files = await readSkills(folder)
      isMissing = false
      if (!isStopped) await onChange(files)
    } catch (error) {
      const wasMissing = isMissing
      isMissing = !existsSync(folder)
      if (!isMissing || !wasMissing) report(error)
      if (isMissing && !isStopped) readLater(missingFolderMs)
    }
  }
  let watcher = startWatcher()
  return () => {
    isStopped = true
    clearTimeout(timer)
    watcher.close()
  }
}
