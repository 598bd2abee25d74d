import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJson } from '@x/core'

const staleAfterMs = 30_000
/**
 * Milliseconds after which another process of this machine may take over a lock whose owner still runs. The owner may
 * be suspended. The lock protects a login, which never takes this long.
 */
const runningOwnerLimitMs = 900_000
const touchIntervalMs = 5000
const pollIntervalMs = 50

/** The owner of a lock, as stored in the lock file. */
interface LockOwner {
  readonly id: string
  readonly pid: number
  readonly host: string
}

/**
 * Runs `run` while no other process that shares the file system runs with the same lock. The lock is a file, which its
 * owner touches every 5 seconds. On the machine of the owner, another process takes the lock over after the owner's
 * process has ended. On another machine, a process takes it over if the file was not touched for 30 seconds.
 */
export async function withFileLock<T>(path: string, run: () => Promise<T>): Promise<T> {
  const owner: LockOwner = { id: randomUUID(), pid: process.pid, host: hostname() }
  while (!(await createLockFile(path, owner))) {
    await removeAbandonedLock(path)
    await sleep(pollIntervalMs * (0.5 + Math.random()))
  }
  const touchTimer = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => undefined)
  }, touchIntervalMs)
  touchTimer.unref()
  try {
    return await run()
  } finally {
    clearInterval(touchTimer)
    // If this process was suspended for too long, another process may have taken the lock over.
    if ((await readLockOwner(path))?.id === owner.id) await rm(path, { force: true })
  }
}

async function createLockFile(path: string, owner: LockOwner): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(JSON.stringify(owner))
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock whose owner has ended. Only one process at a time does this, so that no process removes a lock that
 * another process has just created.
 */
async function removeAbandonedLock(path: string): Promise<void> {
  if (!(await isStaleLock(path))) return
  const staleLockPath = `${path}.stale`
  const removalOwner: LockOwner = { id: randomUUID(), pid: process.pid, host: hostname() }
  if (!(await createLockFile(staleLockPath, removalOwner))) {
    if (await isStaleLock(staleLockPath)) await rm(staleLockPath, { force: true })
    return
  }
  try {
    if (await isStaleLock(path)) await rm(path, { force: true })
  } finally {
    await rm(staleLockPath, { force: true })
  }
}

async function isStaleLock(path: string): Promise<boolean> {
  const ageMs = await readLockAgeMs(path)
  if (ageMs === undefined) return false
  const owner = await readLockOwner(path)
  if (owner === undefined || owner.host !== hostname()) return ageMs > staleAfterMs
  return !isOwnerProcessRunning(owner.pid) || ageMs > runningOwnerLimitMs
}

async function readLockAgeMs(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats === undefined ? undefined : Date.now() - stats.mtimeMs
}

async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  // Undefined if the file was removed, or if its owner has not yet written its content.
  const value = await readFile(path, 'utf8').then(parseJson, () => undefined)
  return isLockOwner(value) ? value : undefined
}

function isLockOwner(value: unknown): value is LockOwner {
  if (typeof value !== 'object' || value === null) return false
  return 'id' in value && 'host' in value && 'pid' in value && typeof value.pid === 'number'
}

function isOwnerProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Returns true for a killed process that its parent has not waited for. It holds no lock (proc_pid_stat(5)). */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    // Only Linux has this file.
    return false
  }
}
