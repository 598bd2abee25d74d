import * as z from 'zod'
import { notificationMetaObject } from '../basic/meta.zod.ts'
import { requestId } from '../basic/request-id.zod.ts'
import { notificationOf } from '../basic/rpc.zod.ts'
import type { CancelledNotification, CancelledNotificationParams } from './cancellation.ts'

/** Validates a {@link CancelledNotificationParams}. */
export const cancelledNotificationParams: z.ZodType<CancelledNotificationParams> = z.looseObject({
  _meta: notificationMetaObject.optional(),
  requestId,
  reason: z.string().optional(),
})

/** Validates a {@link CancelledNotification}. */
export const cancelledNotification: z.ZodType<CancelledNotification> = notificationOf(
  'notifications/cancelled',
  cancelledNotificationParams,
)
