/**
 * What needs Node: locks between processes, and the signals that stop one.
 *
 * @module @x/core/node
 */

export { type LockLimits, lockFile, type LockOwner, pauseForLock } from './file-lock.ts'
export { onStopSignal } from './stop-signals.ts'
