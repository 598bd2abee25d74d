import type { ChangeBus } from '@x/core'

/** The delivery of changes (basic/patterns/subscriptions). */
export interface SubscriptionOptions {
  /** The bus that carries changes between the instances. Default: a bus within this process. */
  readonly bus?: ChangeBus | undefined
}
