import type { Ledger } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'

/** A question whose answer this instance waits for. */
export interface OpenQuestion {
  /** True once the question was sent with a `state` (SEP-1685). */
  hasState: boolean
  /** Stops waiting for the answer. */
  close(): void
}

export interface QuestionInit {
  readonly id: string
  /** Key of the session, or of the pair of streams, that may answer. */
  readonly owner: string
  /** The question counts in this caller's quota. */
  readonly callerKey: string
  onAnswer(response: RpcResponse): void
}

/** Questions of this instance that clients have not answered yet, by random ids. */
export interface OpenQuestions {
  /** Waits for the answer to a question. Throws `LimitError` if the caller has too many open questions. */
  open(question: QuestionInit): OpenQuestion
  /** Undefined if there is no such question, or if another owner was asked. */
  find(owner: string, id: RequestId | undefined): OpenQuestion | undefined
  /** Passes an answer to the call that waits for it. False if no call waits, or if another owner was asked. */
  answer(owner: string, response: RpcResponse): boolean
}

interface QuestionEntry extends QuestionInit {
  readonly question: OpenQuestion
}

export function createOpenQuestions(ledger: Ledger): OpenQuestions {
  const entries = new Map<RequestId, QuestionEntry>()
  const findEntry = (owner: string, id: RequestId | undefined): QuestionEntry | undefined => {
    const entry = id === undefined ? undefined : entries.get(id)
    return entry?.owner === owner ? entry : undefined
  }
  return {
    open(init) {
      const release = ledger.take('questions', init.callerKey)
      const entry: QuestionEntry = {
        ...init,
        question: {
          hasState: false,
          close() {
            release()
            if (entries.get(init.id) === entry) entries.delete(init.id)
          },
        },
      }
      entries.set(init.id, entry)
      return entry.question
    },
    find: (owner, id) => findEntry(owner, id)?.question,
    answer(owner, response) {
      const entry = findEntry(owner, response.id)
      if (entry === undefined) return false
      entry.question.close()
      entry.onAnswer(response)
      return true
    },
  }
}
