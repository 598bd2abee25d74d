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

/** One promise of an engine; `run` rejects when it is broken. */
export interface ContractTest {
  readonly title: string
  readonly run: () => Promise<void>
}

/** The two instances of one store that a test of the contract works with. */
export interface TestEngines {
  readonly here: TaskEngine
  readonly there: TaskEngine
  readonly pass: (ms: number) => Promise<void>
}

/** Runs a test with two instances of a fresh store. */
export async function withTestEngines(
  setUp: () => Promise<EngineUnderTest>,
  work: (bench: TestEngines) => Promise<void>,
): Promise<void> {
  const under = await setUp()
  try {
    await work({ here: await under.open(), there: await under.open(), pass: (ms) => under.advanceTime(ms) })
  } finally {
    await under.close()
  }
}
