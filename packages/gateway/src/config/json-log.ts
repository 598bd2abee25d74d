import { keepProcessWithoutStderr, type LogRecord } from '@x/core'

const maxCauses = 3

/** Writes a record as one line of JSON to the standard error, with the time and the level that a collector of logs reads. */
export function writeJsonLine({ level, err, ...record }: LogRecord): void {
  keepProcessWithoutStderr()
  const line = { time: new Date().toISOString(), level, ...record, ...(err !== undefined && { err: toJsonError(err) }) }
  // oxlint-disable-next-line no-console -- the destination that the file of the gateway selects
  console.error(JSON.stringify(line))
}

function toJsonError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : `${typeof error} was thrown` }
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code !== 'object' ? { code: error.code } : {}
  const hasCause = cause !== undefined && depth < maxCauses
  return { type: name, message, ...code, stack, ...(hasCause && { cause: toJsonError(cause, depth + 1) }) }
}
