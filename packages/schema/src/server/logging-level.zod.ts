import * as z from 'zod'
import type { LoggingLevel } from './logging-level.ts'

/** Validates a {@link LoggingLevel}. */
export const loggingLevel: z.ZodType<LoggingLevel> = z.enum([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
])
