/** How severe a log message is, in the words of syslog, RFC 5424 (server/utilities/logging). */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'
