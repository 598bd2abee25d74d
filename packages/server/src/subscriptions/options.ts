import type { ChangeBus } from '@x/core'

/** The delivery of changes (basic/patterns/subscriptions). */
export interface SubscriptionOptions {
  /** Carries changes between the instances of a fleet. Default: within this process alone. */
  readonly bus?: ChangeBus | undefined
}
