import type { TaskEngine } from '../engines/engine.ts'

/** An empty store, and a way to open engines that share it. */
export interface EngineUnderTest {
  /** Opens one more engine over the store, as another instance would. */
  open(): Promise<TaskEngine>
  /** Moves the engine's time forward without waiting: its clock, or the times that it has stored. */
  advanceTime(ms: number): Promise<void>
  /** Closes every engine, and deletes the store. */
  close(): Promise<void>
}

/** One test of the contract. `run` rejects if the engine breaks it. */
export interface ContractTest {
  readonly title: string
  readonly run: () => Promise<void>
}

/** Two engines over one store, as two instances have them. */
export interface TestEngines {
  readonly here: TaskEngine
  readonly there: TaskEngine
  readonly advanceTime: (ms: number) => Promise<void>
}

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
