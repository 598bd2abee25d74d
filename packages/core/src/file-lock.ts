import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJsonObject } from './json.ts'
import { codeOf } from './thrown.ts'

const touchIntervalMs = 5000
const pollIntervalMs = 50

/** Which process has a lock, as its file names it. */
export interface LockOwner {
  readonly id: string
  readonly pid: number
  readonly host: string
  /**
   * When the process started, which distinguishes it from a later one with the same pid. Empty if the system does not
   * report it.
   */
  readonly startedAt: string
}

/** After so many milliseconds without a touch, a lock is free. Its owner touches it every 5 seconds. */
export interface LockLimits {
  /** For an owner on another machine, and for a file that names none. */
  readonly elsewhereMs: number
  /** For an owner that still runs on this machine. It may be suspended. */
  readonly runningMs: number
}

/** A process that removes an abandoned lock has it locked for a moment. */
const removalLimits: LockLimits = { elsewhereMs: 30_000, runningMs: 30_000 }

/**
 * Locks a file for this process, and resolves with the function that unlocks it. The lock of a process of this machine
 * that has ended is free at once, even if another process has its pid now. While there is another owner, calls
 * `onTaken`, which rejects, or resolves later to try again. The owner is undefined while the file is being written.
 */
export async function lockFile(
  path: string,
  limits: LockLimits,
  onTaken: (owner: LockOwner | undefined) => Promise<void>,
): Promise<() => Promise<void>> {
  const id = randomUUID()
  while (!createLockFile(path, id)) {
    const lock = await readLock(path)
    if (lock === undefined) continue
    if (!isAbandoned(lock, limits)) await onTaken(lock.owner)
    else if (!(await removeAbandonedLock(path, limits))) await pauseForLock()
  }
  const touchTimer = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => undefined)
  }, touchIntervalMs)
  touchTimer.unref()
  return async () => {
    clearInterval(touchTimer)
    // If this process was suspended for too long, another one may have taken the lock over.
    if ((await readLock(path))?.owner?.id === id) await rm(path, { force: true })
  }
}

/** Waits some milliseconds before another look at a lock. */
export async function pauseForLock(): Promise<void> {
  await sleep(pollIntervalMs * (0.5 + Math.random()))
}

// Synchronous, so that no other code of this process sees the file before its content.
function createLockFile(path: string, id: string): boolean {
  const owner: LockOwner = { id, pid: process.pid, host: hostname(), startedAt: readProcessStat(process.pid).startedAt }
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
  try {
    writeFileSync(file, JSON.stringify(owner))
  } catch (error) {
    // On a full disk. An empty file would lock out all processes, this one too, until it counts as abandoned.
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return true
}

/**
 * For a lock whose owner has ended. Only one process at a time does this, so that none removes a lock that another has
 * just created. False if another process is doing it.
 */
async function removeAbandonedLock(path: string, limits: LockLimits): Promise<boolean> {
  const removalPath = `${path}.stale`
  if (!createLockFile(removalPath, randomUUID())) {
    await removeIfAbandoned(removalPath, removalLimits)
    return false
  }
  try {
    await removeIfAbandoned(path, limits)
  } finally {
    await rm(removalPath, { force: true })
  }
  return true
}

async function removeIfAbandoned(path: string, limits: LockLimits): Promise<void> {
  const lock = await readLock(path)
  if (lock !== undefined && isAbandoned(lock, limits)) await rm(path, { force: true })
}

/** Undefined if the lock was released meanwhile. */
async function readLock(
  path: string,
): Promise<{ readonly owner: LockOwner | undefined; readonly touchedMs: number } | undefined> {
  try {
    const { mtimeMs: touchedMs } = await stat(path)
    return { owner: parseOwner(await readFile(path, 'utf8')), touchedMs }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function parseOwner(text: string): LockOwner | undefined {
  const { id, pid, host, startedAt = '' } = parseJsonObject(text) ?? {}
  if (!Number.isSafeInteger(pid) || typeof host !== 'string') return undefined
  return { id: String(id), pid: Number(pid), host, startedAt: String(startedAt) }
}

function isAbandoned(
  { owner, touchedMs }: NonNullable<Awaited<ReturnType<typeof readLock>>>,
  { elsewhereMs, runningMs }: LockLimits,
): boolean {
  const ageMs = Date.now() - touchedMs
  if (owner === undefined || owner.host !== hostname()) return ageMs > elsewhereMs
  // Without a start time, an earlier process with the pid of this one is known by the last touch.
  const isEarlier = owner.pid === process.pid && ageMs > process.uptime() * 1000
  return isEarlier || !isRunning(owner) || ageMs > runningMs
}

function isRunning({ pid, startedAt }: LockOwner): boolean {
  if (!isPidInUse(pid)) return false
  const current = readProcessStat(pid)
  // A killed process that its parent has not waited for has no files open. In a container whose first process waits for
  // no other, it stays for ever.
  if (current.state === 'Z') return false
  return startedAt === '' || current.startedAt === '' || startedAt === current.startedAt
}

function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return codeOf(error) === 'EPERM'
  }
}

/**
 * State of a process, and its start time in the ticks that Linux counts from the machine's start: the first and the
 * 20th field after the name in parentheses (proc_pid_stat(5)). Empty if the system does not report them.
 */
function readProcessStat(pid: number): { readonly state: string; readonly startedAt: string } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', startedAt: fields[19] ?? '' }
  } catch {
    return { state: '', startedAt: '' }
  }
}
