import type { TaskEngine } from '../engines/engine.ts'

/** An empty store, and a function that opens engines that share it. */
export interface EngineUnderTest {
  /** Opens one more engine over the store, as another instance would. */
  open(): Promise<TaskEngine>
  /**
   * Moves the time of the engine forward, without waiting: moves its clock, or changes the times that it has stored.
   */
  advanceTime(ms: number): Promise<void>
  /** Closes every engine, and deletes the store. */
  close(): Promise<void>
}

/** One test of the contract. `run` rejects if the engine breaks the contract. */
export interface ContractTest {
  readonly title: string
  readonly run: () => Promise<void>
}

/** Two engines over one store, as two instances have them, for a test of the contract. */
export interface TestEngines {
  readonly here: TaskEngine
  readonly there: TaskEngine
  readonly advanceTime: (ms: number) => Promise<void>
}

/** Runs a test with two engines over an empty store. */
export async function withTestEngines(
  setUp: () => Promise<EngineUnderTest>,
  work: (engines: TestEngines) => Promise<void>,
): Promise<void> {
  const engineUnderTest = await setUp()
  try {
    await work({
      here: await engineUnderTest.open(),
      there: await engineUnderTest.open(),
      advanceTime: (ms) => engineUnderTest.advanceTime(ms),
    })
  } finally {
    await engineUnderTest.close()
  }
}
