import type { RpcResponse, StatefulResponse } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { WaitingRound } from './waiting-round.ts'

/** The outcome of storing a round. */
export interface StoredRound {
  /** For each question, by its id, the `state` to send with it (SEP-1685). */
  readonly states: ReadonlyMap<string, string>
  /** True if another instance may continue the round. This one must then claim it before it uses the answers. */
  readonly isShared: boolean
  /**
   * True if storing the round failed and may have had its effect. The round is then claimed as if it was shared.
   * Default: false.
   */
  readonly mayBeShared?: boolean | undefined
}

/** Stores rounds for the instances that may continue their calls. */
export interface RoundStore {
  /** Stores a round before its questions are sent. It replaces an earlier round of the same call. */
  keep(round: WaitingRound, client: LegacyClient): Promise<StoredRound>
  /** Finds the round that an answer belongs to. Undefined if it belongs to another owner. */
  findByAnswer(answer: StatefulResponse, owner: string): Promise<WaitingRound | undefined>
  /** Finds a stream's round. Undefined if it belongs to another owner. */
  findByStream(streamId: string, owner: string): Promise<WaitingRound | undefined>
  /** Stored answers of a round, which other instances may have received. */
  listAnswers(round: WaitingRound): Promise<readonly RpcResponse[]>
  /**
   * Claims a round. Resolves with true for only one claimant, which may use the answers. If a reply of the store was
   * lost, the claimant claims again.
   */
  claim(round: WaitingRound, claimant: string): Promise<boolean>
  /** Removes what this instance keeps for a round for which it no longer waits. Records for other instances stay. */
  release(round: WaitingRound): void
}

/** Keeps rounds in the memory of this instance, which alone can continue them. */
export function createMemoryRounds(): RoundStore {
  // Bounded by `waiting_calls` and `bytes` of the ledger.
  const rounds = new Map<string, WaitingRound>()
  const findByStream = (streamId: string, owner: string): WaitingRound | undefined => {
    const round = rounds.get(streamId)
    return round?.owner === owner ? round : undefined
  }
  return {
    async keep(round) {
      rounds.set(round.streamId, round)
      // Always empty.
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

/** Stores each round in both. A round is first looked up in `first`, and then in `second`. */
export function joinRoundStores(first: RoundStore, second: RoundStore): RoundStore {
  return {
    async keep(round, client) {
      const [stored, { states }] = await Promise.all([first.keep(round, client), second.keep(round, client)])
      return { ...stored, states }
    },
    findByAnswer: async (answer, owner) =>
      (await first.findByAnswer(answer, owner)) ?? (await second.findByAnswer(answer, owner)),
    findByStream: (streamId, owner) => first.findByStream(streamId, owner),
    listAnswers: (round) => first.listAnswers(round),
    claim: (round, claimant) => first.claim(round, claimant),
    release(round) {
      first.release(round)
      second.release(round)
    },
  }
}

/** The length of a stream id in characters. */
export const streamIdLength = 22

/** A question's id begins with that of its stream. */
export function streamIdOfQuestion(questionId: string): string {
  return questionId.slice(0, streamIdLength)
}
