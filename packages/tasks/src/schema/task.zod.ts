import { inputRequests, resultMetaObject } from '@x/schema/zod'
import * as z from 'zod'
import type { CreateTaskResult, DetailedTask, GetTaskResult, TaskAcknowledgement } from './task.ts'

const integer = z.int()

const shape = {
  taskId: z.string(),
  statusMessage: z.string().optional(),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttlMs: z.union([integer, z.null()]),
  pollIntervalMs: integer.optional(),
}

const resultShape = { _meta: resultMetaObject.optional() }
const complete = { ...resultShape, resultType: z.literal('complete') }
const json = z.record(z.string(), z.json())

const working = { ...shape, status: z.literal('working') }
const asking = { ...shape, status: z.literal('input_required'), inputRequests }
const completed = { ...shape, status: z.literal('completed'), result: json }
const cancelled = { ...shape, status: z.literal('cancelled') }
const failed = {
  ...shape,
  status: z.literal('failed'),
  error: z.looseObject({ code: integer, message: z.string(), data: z.json().optional() }),
}

/** Validates a {@link DetailedTask}, as `notifications/tasks` carries it. */
export const detailedTask: z.ZodType<DetailedTask> = z.discriminatedUnion('status', [
  z.looseObject(working),
  z.looseObject(asking),
  z.looseObject(completed),
  z.looseObject(failed),
  z.looseObject(cancelled),
])

/** Validates a {@link GetTaskResult}. */
export const getTaskResult: z.ZodType<GetTaskResult> = z.discriminatedUnion('status', [
  z.looseObject({ ...complete, ...working }),
  z.looseObject({ ...complete, ...asking }),
  z.looseObject({ ...complete, ...completed }),
  z.looseObject({ ...complete, ...failed }),
  z.looseObject({ ...complete, ...cancelled }),
])

/** Validates a {@link CreateTaskResult}. */
export const createTaskResult: z.ZodType<CreateTaskResult> = z.looseObject({
  ...resultShape,
  ...shape,
  resultType: z.literal('task'),
  status: z.enum(['working', 'input_required', 'completed', 'cancelled', 'failed']),
})

/** Validates a {@link TaskAcknowledgement}. */
export const taskAcknowledgement: z.ZodType<TaskAcknowledgement> = z.looseObject(complete)
