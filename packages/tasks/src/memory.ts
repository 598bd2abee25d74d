export { memoryEngine, type MemoryEngineOptions } from './engines/memory-engine.ts'
