import * as z from 'zod/mini'
import { notificationMetaObject } from '../basic/meta.zod.ts'
import { requestId } from '../basic/json.zod.ts'
import { notificationValidator } from '../basic/rpc.zod.ts'
import type { CancelledNotification, CancelledNotificationParams } from './cancellation.ts'

/** Validates a {@link CancelledNotificationParams}. */
export const cancelledNotificationParams: z.ZodMiniType<CancelledNotificationParams> = z.looseObject({
  _meta: z.optional(notificationMetaObject),
  requestId,
  reason: z.optional(z.string()),
})

/** Validates a {@link CancelledNotification}. */
export const cancelledNotification: z.ZodMiniType<CancelledNotification> = notificationValidator(
  'notifications/cancelled',
  cancelledNotificationParams,
)
