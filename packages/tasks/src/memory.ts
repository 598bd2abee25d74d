/**
 * Stores tasks in memory.
 *
 * @module @x/tasks/memory
 */

export { memoryEngine, type MemoryEngineOptions } from './engines/memory-engine.ts'
