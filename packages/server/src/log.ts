/**
 * Logs calls that failed or were slow.
 *
 * @module @x/server/log
 */

export { callLog, type CallLogOptions, type CallRecord } from './telemetry/call-log.ts'
