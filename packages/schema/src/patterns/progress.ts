import {
  type NotificationMetaObject,
  notificationMetaObject,
  type ProgressToken,
  progressToken,
} from '../basic/meta.ts'
import { number, optional, type Shape, shape, string } from '../basic/shape.ts'

/** The progress of a request (basic/patterns/progress). */
export type ProgressNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The progress token of the request. */
  readonly progressToken: ProgressToken
  /** The progress so far, in units that the sender chooses. It increases with each notification. */
  readonly progress: number
  /** The final value of `progress`, if known. */
  readonly total?: number | undefined
  /** A description of the current step, for people. */
  readonly message?: string | undefined
}

/** The shape of {@link ProgressNotificationParams}. */
export const progressNotificationParams: Shape<ProgressNotificationParams> = shape<ProgressNotificationParams>({
  _meta: optional(notificationMetaObject),
  progressToken,
  progress: number,
  total: optional(number),
  message: optional(string),
})
