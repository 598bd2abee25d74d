import type { Ledger } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'

/** A question that waits at this instance for its answer. */
export interface OpenQuestion {
  /** True once it was sent with a `state` (SEP-1685). */
  hasState: boolean
  /** Stops waiting. */
  close(): void
}

/** A question to open. */
export interface QuestionInit {
  readonly id: string
  /** The session, or the pair of streams, that may answer. */
  readonly owner: string
  /** The caller that the question counts for. */
  readonly callerKey: string
  onAnswer(response: RpcResponse): void
}

/** The questions that clients have not answered yet, each by a random id. */
export interface OpenQuestions {
  /** Waits for the answer to a question. Throws `LimitError` when its caller has too many. */
  open(question: QuestionInit): OpenQuestion
  /** Returns an open question of this owner, undefined for one of another owner. */
  find(owner: string, id: RequestId | undefined): OpenQuestion | undefined
  /** Passes an answer to the call that waits for it. False when none does, or another owner was asked. */
  answer(owner: string, response: RpcResponse): boolean
}

interface QuestionEntry extends QuestionInit {
  readonly question: OpenQuestion
}

/** Starts with no question. */
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
