import type { CallDeps } from '../../call/call-deps.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { InstanceBus } from './instance-bus.ts'
import type { LinkStore } from './link-store.ts'

/** Dependencies that the parts of a link share. */
export interface LinkContext {
  readonly store: LinkStore
  readonly bus: InstanceBus
  readonly deps: CallDeps
  /** Returns the HTTP dependencies, which exist before the first request or message arrives. */
  readonly getHttpDeps: () => HttpDeps
}
