import * as z from 'zod/mini'
import type { LoggingLevel } from './logging-level.ts'

/** Validates a {@link LoggingLevel}. */
export const loggingLevel: z.ZodMiniType<LoggingLevel> = z.enum([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
])
