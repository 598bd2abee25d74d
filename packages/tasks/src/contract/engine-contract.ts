import { answerTests } from './answer-tests.ts'
import { type ContractTest, type EngineUnderTest, withTestEngines } from './engine-under-test.ts'
import { notificationTests } from './notification-tests.ts'
import { operatorTests } from './operator-tests.ts'
import { storageTests } from './storage-tests.ts'
import { workTests } from './work-tests.ts'

/**
 * The tests that every engine of tasks must pass, for any test runner. Each uses a new store, and rejects if the engine
 * breaks the contract.
 *
 * @example
 * describe('my engine', () => {
 *   for (const { title, run } of engineContract(setUp)) test(title, run)
 * })
 */
export function engineContract(setUp: () => Promise<EngineUnderTest>): readonly ContractTest[] {
  return [...storageTests, ...workTests, ...answerTests, ...notificationTests, ...operatorTests].map(
    ([title, work]) => ({
      title,
      run: () => withTestEngines(setUp, work),
    }),
  )
}
