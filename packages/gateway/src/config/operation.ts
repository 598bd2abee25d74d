import { keepProcessWithoutStderr, type Log, type LogRecord } from '@x/core'
import type { ServeHttpOptions } from '@x/transport-http/node'
import type { GatewayFile } from './file-schema.ts'

/** The options of the endpoint that a file decides. */
export type HttpSettings = Pick<
  ServeHttpOptions,
  'port' | 'host' | 'allowedHosts' | 'auth' | 'onRequest' | 'clientAddress' | 'stopOnSignals'
>

/** Decides how a gateway is reached, stopped and logged. */
export function createOperation({ listen, log }: Pick<GatewayFile, 'listen' | 'log'>): {
  readonly http: HttpSettings
  readonly log: Log | undefined
} {
  const { protect: _, clientAddress, notice, grace, ...address } = listen
  return {
    http: {
      ...address,
      stopOnSignals: { noticeMs: notice, graceMs: grace },
      ...(clientAddress !== undefined && { clientAddress: createAddressReader(clientAddress) }),
    },
    log: log === 'json' ? writeJsonLine : undefined,
  }
}

/** A proxy appends the address that it sees, so only the last entry is one that a client cannot invent. */
function createAddressReader(header: string): NonNullable<HttpSettings['clientAddress']> {
  return (request) => request.header(header)?.split(',').at(-1)?.trim()
}

const maxCauses = 3

/**
 * Writes a record from the level `info` on as one line of JSON to the standard error, with the time and the level that a collector of logs
 * reads.
 */
function writeJsonLine({ level, err, ...record }: LogRecord): void {
  if (level === 'debug') return
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
