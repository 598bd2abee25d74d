import {
  type NotificationMetaObject,
  notificationMetaObject,
  type ProgressToken,
  progressToken,
} from '../basic/meta.ts'
import { number, optional, type Shape, shape, string } from '../basic/shape.ts'

/** How far a request has come (basic/patterns/progress). */
export type ProgressNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** Progress token of the request. */
  readonly progressToken: ProgressToken
  /** In units that the sender chooses. It increases with each notification. */
  readonly progress: number
  /** Final value of `progress`, if known. */
  readonly total?: number | undefined
  /** What happens now, for people. */
  readonly message?: string | undefined
}

export const progressNotificationParams: Shape<ProgressNotificationParams> = shape<ProgressNotificationParams>({
  _meta: optional(notificationMetaObject),
  progressToken,
  progress: number,
  total: optional(number),
  message: optional(string),
})
