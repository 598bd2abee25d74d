import type { ElicitAnswer } from '@x/client'
import type { ElicitRequestFormParams } from '@x/schema'

/** Who answers: somebody at a terminal, or a file that was written before. */
export interface Person {
  /** Answers the question with this key; rejects when it cannot. */
  answer(key: string, question: ElicitRequestFormParams): Promise<ElicitAnswer>
  /** What is to be said at the end: answers that nobody asked for, say. Undefined when all is well. */
  leftOver(): string | undefined
}
