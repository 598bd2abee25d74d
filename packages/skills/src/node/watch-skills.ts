import { watch } from 'node:fs'
import { createLog, errorRecord, type Log } from '@x/core'
import type { SkillFile } from '../server/skill-file.ts'
import { readSkills } from './read-skills.ts'

/** Editors write a file in several steps, so the folder is read after so long without a change. */
const quietMs = 200

/**
 * Watches a folder of skills. Reads it again after each change and passes the files on, for example to
 * `server.skills.replace`. An error of reading or of `onChange` is logged, and the next change is awaited. The returned
 * function ends the watch.
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
  const readAgain = async (): Promise<void> => {
    try {
      await onChange(await readSkills(folder))
    } catch (error) {
      report(error)
    }
  }
  const watcher = watch(folder, { recursive: true }, () => {
    clearTimeout(timer)
    // One after the other, so that an older content never replaces a newer one.
    timer = setTimeout(() => (pendingRead = pendingRead.then(readAgain)), quietMs)
  })
  watcher.on('error', report)
  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}
