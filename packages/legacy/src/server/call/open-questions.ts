import type { Ledger } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'

/** A question whose answer this instance waits for. */
export interface OpenQuestion {
  /** True once the question was sent with a `state` (SEP-1685). */
  hasState: boolean
  /** Stops waiting for the answer. */
  close(): void
}

/** The values with which a question is opened. */
export interface QuestionInit {
  readonly id: string
  /** The key of the session, or of the pair of streams, that may answer. */
  readonly owner: string
  /** The caller in whose quota the question counts. */
  readonly callerKey: string
  onAnswer(response: RpcResponse): void
}

/** The questions of this instance that clients have not answered, by their random ids. */
export interface OpenQuestions {
  /** Starts to wait for the answer to a question. Throws `LimitError` if the caller has too many open questions. */
  open(question: QuestionInit): OpenQuestion
  /** Returns an open question. Undefined if there is none, or if another owner was asked. */
  find(owner: string, id: RequestId | undefined): OpenQuestion | undefined
  /** Passes an answer to the call that waits for it. Returns false if no call waits, or if another owner was asked. */
  answer(owner: string, response: RpcResponse): boolean
}

interface QuestionEntry extends QuestionInit {
  readonly question: OpenQuestion
}

/** Creates {@link OpenQuestions} without a question. */
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
