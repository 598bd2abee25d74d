import type { ChangeBus } from '@x/core'

/** The delivery of changes to clients (basic/patterns/subscriptions). */
export interface SubscriptionOptions {
  /** Carries changes between the instances. Default: a bus within this process. */
  readonly bus?: ChangeBus | undefined
}
