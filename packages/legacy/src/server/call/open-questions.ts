import type { Ledger } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'

/** A question whose answer this instance waits for. */
export interface OpenQuestion {
  /** Key of the session, or of the pair of streams, that may answer. */
  readonly owner: string
  /** True once the question was sent with a `state` (SEP-1685). */
  hasState: boolean
  onAnswer(response: RpcResponse): void
  /** Stops waiting for the answer. */
  close(): void
}

/** Questions of this instance that clients have not answered yet, by random ids. */
export class OpenQuestions {
  readonly #ledger: Ledger
  readonly #questions = new Map<RequestId, OpenQuestion>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /**
   * Waits for the answer to a question, which counts in the quota of `callerKey`. Throws `LimitError` if the caller has
   * too many open questions.
   */
  open({
    id,
    owner,
    callerKey,
    onAnswer,
  }: Pick<OpenQuestion, 'owner' | 'onAnswer'> & { readonly id: string; readonly callerKey: string }): OpenQuestion {
    const release = this.#ledger.take('questions', callerKey)
    const question: OpenQuestion = {
      owner,
      hasState: false,
      onAnswer,
      close: () => {
        release()
        if (this.#questions.get(id) === question) this.#questions.delete(id)
      },
    }
    this.#questions.set(id, question)
    return question
  }

  /** Undefined if there is no such question, or if another owner was asked. */
  find(owner: string, id: RequestId | undefined): OpenQuestion | undefined {
    const question = id === undefined ? undefined : this.#questions.get(id)
    return question?.owner === owner ? question : undefined
  }

  /** Passes an answer to the call that waits for it. False if no call waits, or if another owner was asked. */
  answer(owner: string, response: RpcResponse): boolean {
    const question = this.find(owner, response.id)
    if (question === undefined) return false
    question.close()
    question.onAnswer(response)
    return true
  }
}
