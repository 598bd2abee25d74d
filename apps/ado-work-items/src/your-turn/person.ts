import type { ElicitAnswer } from '@x/client'
import type { ElicitRequestFormParams } from '@x/schema'

/** A source of answers: a person at a terminal, or a prepared file. */
export interface Person {
  /** Answers the question with this key. Rejects if there is no answer. */
  answer(key: string, question: ElicitRequestFormParams): Promise<ElicitAnswer>
  /** A final message, such as unused answers. Undefined when there is none. */
  leftOver(): string | undefined
}
