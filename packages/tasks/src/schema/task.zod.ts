import { inputRequests, resultMetaObject } from '@x/schema/zod'
import * as z from 'zod/mini'
import type { CreateTaskResult, DetailedTask, GetTaskResult, TaskAcknowledgement } from './task.ts'

const integer = z.int()

const shape = {
  taskId: z.string(),
  statusMessage: z.optional(z.string()),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttlMs: z.union([integer, z.null()]),
  pollIntervalMs: z.optional(integer),
}

const resultShape = { _meta: z.optional(resultMetaObject) }
const complete = { ...resultShape, resultType: z.literal('complete') }
const json = z.record(z.string(), z.json())

const working = { ...shape, status: z.literal('working') }
const asking = { ...shape, status: z.literal('input_required'), inputRequests }
const completed = { ...shape, status: z.literal('completed'), result: json }
const cancelled = { ...shape, status: z.literal('cancelled') }
const failed = {
  ...shape,
  status: z.literal('failed'),
  error: z.looseObject({ code: integer, message: z.string(), data: z.optional(z.json()) }),
}

/** Validates a {@link DetailedTask}, as `notifications/tasks` carries it. */
export const detailedTask: z.ZodMiniType<DetailedTask> = z.discriminatedUnion('status', [
  z.looseObject(working),
  z.looseObject(asking),
  z.looseObject(completed),
  z.looseObject(failed),
  z.looseObject(cancelled),
])

/** Validates a {@link GetTaskResult}. */
export const getTaskResult: z.ZodMiniType<GetTaskResult> = z.discriminatedUnion('status', [
  z.looseObject({ ...complete, ...working }),
  z.looseObject({ ...complete, ...asking }),
  z.looseObject({ ...complete, ...completed }),
  z.looseObject({ ...complete, ...failed }),
  z.looseObject({ ...complete, ...cancelled }),
])

/** Validates a {@link CreateTaskResult}. */
export const createTaskResult: z.ZodMiniType<CreateTaskResult> = z.looseObject({
  ...resultShape,
  ...shape,
  resultType: z.literal('task'),
  status: z.enum(['working', 'input_required', 'completed', 'cancelled', 'failed']),
})

/** Validates a {@link TaskAcknowledgement}. */
export const taskAcknowledgement: z.ZodMiniType<TaskAcknowledgement> = z.looseObject(complete)
