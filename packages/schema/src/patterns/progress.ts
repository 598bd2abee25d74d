import type { NotificationMetaObject, ProgressToken } from '../basic/meta.ts'

/** How far a request has come (basic/patterns/progress). */
export type ProgressNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The token that the request came with. */
  readonly progressToken: ProgressToken
  /** Grows from one notification to the next, in units of the sender's choice. */
  readonly progress: number
  /** What `progress` will reach, where that is known. */
  readonly total?: number | undefined
  /** What is being done, for people. */
  readonly message?: string | undefined
}

/** Tells how far a request has come, to whom asked with a progress token (basic/patterns/progress). */
export type ProgressNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/progress'
  readonly params: ProgressNotificationParams
}
