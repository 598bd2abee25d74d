import { word } from '../basic/shape.ts'

/** The severity of a log message, in the words of syslog, RFC 5424 (server/utilities/logging). */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** The shape of {@link LoggingLevel}. */
export const loggingLevel = word('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency')
