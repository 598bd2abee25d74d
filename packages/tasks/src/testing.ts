export { engineContract } from './contract/engine-contract.ts'
export type { ContractTest, EngineUnderTest } from './contract/engine-under-test.ts'
