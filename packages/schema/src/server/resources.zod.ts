import * as z from 'zod'
import { annotations } from '../basic/annotations.zod.ts'
import { base64, uri, uriTemplate } from '../basic/formats.zod.ts'
import { baseMetadataShape, iconsShape } from '../basic/implementation.zod.ts'
import { metaObject, notificationMetaObject, notificationParams } from '../basic/meta.zod.ts'
import { notificationOf } from '../basic/rpc.zod.ts'
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
  _meta: metaObject.optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  annotations: annotations.optional(),
}

/** The fields of a {@link Resource}. */
export const resourceShape = { ...describedShape, uri, size: z.int().optional() }

/** Validates a {@link Resource}. */
export const resource: z.ZodType<Resource> = z.looseObject(resourceShape)

/** Validates a {@link ResourceTemplate}. */
export const resourceTemplate: z.ZodType<ResourceTemplate> = z.looseObject({ ...describedShape, uriTemplate })

const contentsShape = { _meta: metaObject.optional(), uri, mimeType: z.string().optional() }

/** Validates {@link ResourceContents}. */
export const resourceContents: z.ZodType<ResourceContents> = z.looseObject(contentsShape)

/** Validates {@link TextResourceContents}. */
export const textResourceContents: z.ZodType<TextResourceContents> = z.looseObject({
  ...contentsShape,
  text: z.string(),
})

/** Validates {@link BlobResourceContents}. */
export const blobResourceContents: z.ZodType<BlobResourceContents> = z.looseObject({ ...contentsShape, blob: base64 })

/** Validates a {@link ResourceListChangedNotification}. */
export const resourceListChangedNotification: z.ZodType<ResourceListChangedNotification> = notificationOf(
  'notifications/resources/list_changed',
  notificationParams.optional(),
)

/** Validates a {@link ResourceUpdatedNotificationParams}. */
export const resourceUpdatedNotificationParams: z.ZodType<ResourceUpdatedNotificationParams> = z.looseObject({
  _meta: notificationMetaObject.optional(),
  uri,
})

/** Validates a {@link ResourceUpdatedNotification}. */
export const resourceUpdatedNotification: z.ZodType<ResourceUpdatedNotification> = notificationOf(
  'notifications/resources/updated',
  resourceUpdatedNotificationParams,
)
