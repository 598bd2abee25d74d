import type { TaskEngine } from '../engines/engine.ts'

/** The tasks of a fresh store, and the instances that share them. */
export interface EngineUnderTest {
  /** The engine of one more instance. */
  open(): Promise<TaskEngine>
  /** Lets time pass for the engine, by moving its clock, or what it has written down, and not by waiting. */
  advanceTime(ms: number): Promise<void>
  /** Closes every engine and deletes what they kept. */
  close(): Promise<void>
}

/** One promise of an engine. `run` rejects when it is broken. */
export interface ContractTest {
  readonly title: string
  readonly run: () => Promise<void>
}

/** The two instances of one store that a test of the contract works with. */
export interface TestEngines {
  readonly here: TaskEngine
  readonly there: TaskEngine
  readonly advanceTime: (ms: number) => Promise<void>
}

/** Runs a test with two instances of a fresh store. */
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
