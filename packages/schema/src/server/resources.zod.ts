import * as z from 'zod/mini'
import { annotations } from '../basic/annotations.zod.ts'
import { base64, uri, uriTemplate } from '../basic/json.zod.ts'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { metaObject, notificationMetaObject, notificationParams } from '../basic/meta.zod.ts'
import { notificationValidator } from '../basic/rpc.zod.ts'
import type {
  BlobResourceContents,
  Resource,
  ResourceContents,
  ResourceListChangedNotification,
  ResourceTemplate,
  ResourceUpdatedNotification,
  ResourceUpdatedNotificationParams,
  TextResourceContents,
} from './resources.ts'

const describedShape = {
  ...baseMetadataShape,
  ...iconsShape,
  _meta: z.optional(metaObject),
  description: z.optional(z.string()),
  mimeType: z.optional(z.string()),
  annotations: z.optional(annotations),
}

/** The fields of a {@link Resource}. */
export const resourceShape = { ...describedShape, uri, size: z.optional(z.int()) }

/** Validates a {@link Resource}. */
export const resource: z.ZodMiniType<Resource> = z.looseObject(resourceShape)

/** Validates a {@link ResourceTemplate}. */
export const resourceTemplate: z.ZodMiniType<ResourceTemplate> = z.looseObject({ ...describedShape, uriTemplate })

const contentsShape = { _meta: z.optional(metaObject), uri, mimeType: z.optional(z.string()) }

/** Validates {@link ResourceContents}. */
export const resourceContents: z.ZodMiniType<ResourceContents> = z.looseObject(contentsShape)

/** Validates {@link TextResourceContents}. */
export const textResourceContents: z.ZodMiniType<TextResourceContents> = z.looseObject({
  ...contentsShape,
  text: z.string(),
})

/** Validates {@link BlobResourceContents}. */
export const blobResourceContents: z.ZodMiniType<BlobResourceContents> = z.looseObject({
  ...contentsShape,
  blob: base64,
})

/** Validates a {@link ResourceListChangedNotification}. */
export const resourceListChangedNotification: z.ZodMiniType<ResourceListChangedNotification> = notificationValidator(
  'notifications/resources/list_changed',
  z.optional(notificationParams),
)

/** Validates a {@link ResourceUpdatedNotificationParams}. */
export const resourceUpdatedNotificationParams: z.ZodMiniType<ResourceUpdatedNotificationParams> = z.looseObject({
  _meta: z.optional(notificationMetaObject),
  uri,
})

/** Validates a {@link ResourceUpdatedNotification}. */
export const resourceUpdatedNotification: z.ZodMiniType<ResourceUpdatedNotification> = notificationValidator(
  'notifications/resources/updated',
  resourceUpdatedNotificationParams,
)
