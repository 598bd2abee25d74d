/**
 * Tests that every engine of tasks must pass.
 *
 * @module @x/tasks/testing
 */

export { engineContract } from './contract/engine-contract.ts'
export type { ContractTest, EngineUnderTest } from './contract/engine-under-test.ts'
