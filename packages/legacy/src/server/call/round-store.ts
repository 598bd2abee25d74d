import type { RpcResponse, StatefulResponse } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { WaitingRound } from './waiting-round.ts'

/** A round that a store keeps. */
export interface KeptRound {
  /** The `state` to send with each question, by its id (SEP-1685). */
  readonly states: ReadonlyMap<string, string>
  /** True when another instance may continue the round, so that this one has to claim it. */
  readonly isShared: boolean
}

/** Keeps calls that wait, for the instance that continues them. */
export interface RoundStore {
  /** Keeps a round before its questions are sent, in the place of an earlier round of its call. */
  keep(round: WaitingRound, client: LegacyClient): Promise<KeptRound>
  /** Returns the round of an answer, for the session that was asked. */
  findByAnswer(answer: StatefulResponse, owner: string): Promise<WaitingRound | undefined>
  /** Returns the round of a stream, for its session. */
  findByStream(streamId: string, owner: string): Promise<WaitingRound | undefined>
  /** Returns the answers of a round that reached other instances. */
  listAnswers(round: WaitingRound): Promise<readonly RpcResponse[]>
  /** Resolves with true for the one instance that may use the answers of a round. */
  claim(round: WaitingRound): Promise<boolean>
  /**
   * Removes what this instance keeps for a round that it does not wait for any more. Records for other instances stay.
   */
  release(round: WaitingRound): void
}

/** Keeps rounds in the memory of this instance, which alone can continue them. */
export function createMemoryRounds(): RoundStore {
  const rounds = new Map<string, WaitingRound>()
  const findByStream = (streamId: string, owner: string): WaitingRound | undefined => {
    const round = rounds.get(streamId)
    return round?.owner === owner ? round : undefined
  }
  return {
    async keep(round) {
      rounds.set(round.streamId, round)
      return { states: new Map(), isShared: false }
    },
    findByAnswer: async ({ id }, owner) => findByStream(streamIdOfQuestion(String(id)), owner),
    findByStream: async (streamId, owner) => findByStream(streamId, owner),
    listAnswers: async () => [],
    claim: async (round) => rounds.get(round.streamId)?.id === round.id && rounds.delete(round.streamId),
    release({ id, streamId }) {
      if (rounds.get(streamId)?.id === id) rounds.delete(streamId)
    },
  }
}

/** Joins two stores. A round is looked up in the first one, and then in the second. */
export function joinRoundStores(first: RoundStore, second: RoundStore): RoundStore {
  return {
    async keep(round, client) {
      const [{ isShared }, { states }] = await Promise.all([first.keep(round, client), second.keep(round, client)])
      return { states, isShared }
    },
    findByAnswer: async (answer, owner) =>
      (await first.findByAnswer(answer, owner)) ?? (await second.findByAnswer(answer, owner)),
    findByStream: (streamId, owner) => first.findByStream(streamId, owner),
    listAnswers: (round) => first.listAnswers(round),
    claim: (round) => first.claim(round),
    release(round) {
      first.release(round)
      second.release(round)
    },
  }
}

/** Characters of the id of a stream. */
export const streamIdLength = 22

/** Returns the stream in the id of a question. */
export function streamIdOfQuestion(questionId: string): string {
  return questionId.slice(0, streamIdLength)
}
