import type { Deps } from '../deps.ts'
import type { HttpDeps } from '../http/http-deps.ts'
import type { InstanceBus } from './instance-bus.ts'
import type { LinkStore } from './link-store.ts'

/** Dependencies that the parts of a link share. */
export interface LinkDeps {
  readonly store: LinkStore
  readonly bus: InstanceBus
  readonly deps: Deps
  readonly getHttpDeps: () => HttpDeps
}
