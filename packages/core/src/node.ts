/**
 * What needs Node: locks between processes.
 *
 * @module @x/core/node
 */

export { type LockLimits, lockFile, type LockOwner, pauseForLock } from './file-lock.ts'
