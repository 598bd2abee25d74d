/**
 * What needs Node: locks between processes, files that are written whole, and the signals that stop one.
 *
 * @module @x/core/node
 */

export { type LockLimits, lockFile, type LockOwner, pauseForLock } from './file-lock.ts'
export { endBySignal, onStopSignal, signalRepeatMs } from './stop-signals.ts'
export { createFile, replaceFile } from './whole-file.ts'
