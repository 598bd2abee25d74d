import { randomId } from '@x/core'
import type { RequestId, RpcResponse } from '@x/schema'

/** The questions that clients have not answered yet, each by a random id. */
export interface QuestionRegistry {
  /**
   * Opens a question to one owner (a session, or a pair of streams) under a new id; undefined when there are too many.
   */
  open(owner: string, onAnswer: (response: RpcResponse) => void, id?: string): PendingServerRequest | undefined
  /** Returns an open question of this owner; that of another is as unknown as one that never was. */
  find(owner: string, id: RequestId | undefined): PendingServerRequest | undefined
  /** Passes an answer to who waits for it; false when nobody does, or another owner was asked. */
  answer(owner: string, response: RpcResponse): boolean
}

/** A question that waits for its answer. */
export interface PendingServerRequest {
  readonly id: string
  /** True once it was sent with a `state` (SEP-1685). */
  hasState: boolean
  /** True once its call is in the store of a link, where every instance takes its answer. */
  isStored: boolean
  /** Stops waiting. */
  close(): void
}

interface QuestionEntry {
  readonly owner: string
  readonly question: PendingServerRequest
  readonly onAnswer: (response: RpcResponse) => void
}

const maxQuestionsPerOwner = 64
const maxQuestionsPerInstance = 10_000

/** Starts with none. */
export function createQuestionRegistry(): QuestionRegistry {
  const openQuestions = new Map<RequestId, QuestionEntry>()
  const countByOwner = new Map<string, number>()
  const removeQuestion = (id: RequestId, owner: string): boolean => {
    if (!openQuestions.delete(id)) return false
    const remainingCount = (countByOwner.get(owner) ?? 1) - 1
    if (remainingCount === 0) countByOwner.delete(owner)
    else countByOwner.set(owner, remainingCount)
    return true
  }
  return {
    open(owner, onAnswer, id = randomId()) {
      const ownerQuestionCount = countByOwner.get(owner) ?? 0
      if (ownerQuestionCount >= maxQuestionsPerOwner || openQuestions.size >= maxQuestionsPerInstance) return undefined
      const question = { id, hasState: false, isStored: false, close: () => void removeQuestion(id, owner) }
      openQuestions.set(id, { owner, onAnswer, question })
      countByOwner.set(owner, ownerQuestionCount + 1)
      return question
    },
    find(owner, id) {
      const entry = id === undefined ? undefined : openQuestions.get(id)
      return entry?.owner === owner ? entry.question : undefined
    },
    answer(owner, response) {
      const { id } = response
      const question = id === undefined ? undefined : openQuestions.get(id)
      // An answer of another session or principal is one to nothing.
      if (id === undefined || question === undefined || question.owner !== owner) return false
      removeQuestion(id, owner)
      question.onAnswer(response)
      return true
    },
  }
}

const streamIdLength = 22

/** Returns a new id for a question of a linked call, which begins with the id of its stream. */
export function createQuestionId(streamId: string): string {
  return `${streamId}.${randomId().slice(0, 8)}`
}

/** Returns the stream in an id of `createQuestionId`. */
export function streamIdOfQuestion(id: string): string {
  return id.slice(0, streamIdLength)
}
