import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { parseJsonObject } from '@x/core'

/** The process that has a folder open. */
interface LockHolder {
  readonly pid: number
  readonly host: string
  /**
   * The start time of the process, which distinguishes it from a later process with the same pid. Empty if the system
   * does not report it.
   */
  readonly startedAt: string
}

/** The lock files of the folders that this process has open. */
const lockedFiles = new Set<string>()

/**
 * Locks a folder for this process by a file beside it, and resolves with the function that unlocks it. A lock that a
 * killed process has left is replaced. Rejects with an error that names the process that has the lock.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = `${folder}.lock`
  if (lockedFiles.has(file)) throw new Error(`${folder} is open in this process already: use one engine for all of it`)
  lockedFiles.add(file)
  try {
    await mkdir(dirname(folder), { recursive: true })
    await acquireLockFile(file, folder)
  } catch (error) {
    lockedFiles.delete(file)
    throw error
  }
  return async () => {
    await rm(file, { force: true })
    lockedFiles.delete(file)
  }
}

async function acquireLockFile(file: string, folder: string): Promise<void> {
  for (let attempts = 0; attempts < 10; attempts++) {
    if (await tryCreateLockFile(file)) return
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const holder = parseLockHolder(text)
    if (holder === undefined || isHolderAlive(holder)) throw lockedFolderError(folder, file, holder)
    await removeStaleLock(file, text)
  }
  throw new Error(`${file} changes repeatedly: several processes try to open ${folder}, which is for one process`)
}

async function tryCreateLockFile(file: string): Promise<boolean> {
  const holder: LockHolder = { pid: process.pid, host: hostname(), startedAt: readProcessStartTime(process.pid) }
  try {
    await writeFile(file, JSON.stringify(holder), { flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock file if its content is still the given text. If another process has replaced the file meanwhile, puts
 * it back.
 */
async function removeStaleLock(file: string, text: string): Promise<void> {
  const movedLockFile = `${file}.${process.pid}`
  const isMoved = await rename(file, movedLockFile).then(
    () => true,
    () => false,
  )
  if (!isMoved) return
  const movedText = await readFile(movedLockFile, 'utf8')
  if (movedText !== text) await writeFile(file, movedText, { flag: 'wx' }).catch(() => {})
  await rm(movedLockFile, { force: true })
}

/**
 * Parses a lock file. Undefined if the file is incomplete, because it is being written or the machine lost its power
 * meanwhile.
 */
function parseLockHolder(text: string): LockHolder | undefined {
  const { pid, host, startedAt = '' } = parseJsonObject(text) ?? {}
  if (!Number.isSafeInteger(pid) || typeof host !== 'string') return undefined
  return { pid: Number(pid), host, startedAt: String(startedAt) }
}

/** Returns true if a process may still have the folder open. This is assumed for a process of another machine. */
function isHolderAlive({ pid, host, startedAt }: LockHolder): boolean {
  if (host !== hostname()) return true
  // If this process had the lock, `lockedFiles` would contain the file. So an earlier process had the same pid.
  if (pid === process.pid) return false
  if (!isProcessRunning(pid) || hasEnded(pid)) return false
  const currentStartTime = readProcessStartTime(pid)
  return startedAt === '' || currentStartTime === '' || startedAt === currentStartTime
}

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process is running, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * Returns the start time of a process, in the ticks that Linux counts from the machine's start. It is the 20th field
 * after the name in parentheses. Empty if the system does not report it.
 */
function readProcessStartTime(pid: number): string {
  return readProcessStat(pid)[19] ?? ''
}

/**
 * Returns true for a process that was killed and that its parent has not waited for. It has no files open. In a container
 * whose first process waits for no other, it stays for ever.
 */
function hasEnded(pid: number): boolean {
  return readProcessStat(pid)[0] === 'Z'
}

/** Returns the fields of a process after its name (proc_pid_stat(5)). Empty if the system does not report them. */
function readProcessStat(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

function lockedFolderError(folder: string, file: string, holder: LockHolder | undefined): Error {
  const holderLabel = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
  const advice = `Stop that process, or give this one another folder (postgresEngine is for several processes); if it has ended and this stays, delete ${file}`
  return new Error(`${folder} is open in ${holderLabel}, and PGlite is for one process. ${advice}`)
}
