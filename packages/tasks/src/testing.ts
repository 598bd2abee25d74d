/**
 * The contract that every engine of tasks has to pass.
 *
 * @module @x/tasks/testing
 */

export { engineContract } from './contract/engine-contract.ts'
export type { ContractTest, EngineUnderTest } from './contract/engine-under-test.ts'
