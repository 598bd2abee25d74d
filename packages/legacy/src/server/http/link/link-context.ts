import type { WaitingRound } from '../../call/waiting-round.ts'
import type { CallStream } from '../call-stream.ts'
import type { SessionPeer } from '../peer.ts'
import type { CallDeps } from '../../call/call-deps.ts'
import type { SessionStates } from '../../session/session-state.ts'
import type { InstanceBus } from './instance-bus.ts'
import type { LinkStore } from './link-store.ts'

/** Continues a round at this instance. `lastEventNumber` is set for a client that reads the round's stream here. */
export type ContinueRound = (round: WaitingRound, peer: SessionPeer, lastEventNumber?: number) => CallStream | undefined

/** What the parts of a link share. */
export interface LinkContext {
  readonly store: LinkStore
  readonly bus: InstanceBus
  readonly deps: CallDeps
  readonly sessionStates: SessionStates
  readonly continueRound: ContinueRound
}
