/**
 * Zod's validators for the types of the tasks extension.
 *
 * @module @x/tasks/zod
 */

import { zodOf } from '@x/schema/zod'
import type * as z from 'zod/mini'
import * as shapes from './schema/task.ts'

/** Validates a {@link shapes.DetailedTask | DetailedTask}, as in `notifications/tasks`. */
export const detailedTask: z.ZodMiniType<shapes.DetailedTask> = zodOf(shapes.detailedTask)

/** Validates a {@link shapes.GetTaskResult | GetTaskResult}. */
export const getTaskResult: z.ZodMiniType<shapes.GetTaskResult> = zodOf(shapes.getTaskResult)

/** Validates a {@link shapes.CreateTaskResult | CreateTaskResult}. */
export const createTaskResult: z.ZodMiniType<shapes.CreateTaskResult> = zodOf(shapes.createTaskResult)

/** Validates a {@link shapes.TaskAcknowledgement | TaskAcknowledgement}. */
export const taskAcknowledgement: z.ZodMiniType<shapes.TaskAcknowledgement> = zodOf(shapes.taskAcknowledgement)
