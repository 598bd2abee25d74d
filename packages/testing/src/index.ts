/**
 * Tests handlers in memory.
 *
 * @module @x/testing
 */

export type { Log, LogRecord, Runtime } from '@x/core'
export {
  type Answer,
  type Answers,
  type AnswerValue,
  type AskedQuestion,
  type FormContent,
  type ObservedQuestion,
} from './answers.ts'
export {
  stopAtEveryStep,
  type StopAtEveryStepOptions,
  type StopReport,
  type StoppedStep,
} from './stop-at-every-step.ts'
export type {
  Observations,
  ObservedChange,
  ObservedError,
  ObservedLog,
  ObservedProgress,
  ObservedRound,
  ObservedTask,
} from './observe.ts'
export type { ServerFactory, ServerKit } from './server-kit.ts'
export { testClient, type TestClient, type TestClientMembers, type TestClientOptions } from './test-client.ts'
export { testRuntime, type TestRuntime, type TestRuntimeOptions } from './test-runtime.ts'
export { isTestingError, TestingError, type TestingErrorCode } from './testing-error.ts'
