import { keepProcessWithoutStderr, type Log, type LogRecord } from '@x/core'
import type { ServeHttpOptions } from '@x/transport-http/node'
import type { GatewayFile } from './file-schema.ts'
import type { SecretReader } from './secret-reader.ts'

/** The options of the endpoint that a file decides. */
export type HttpSettings = Pick<
  ServeHttpOptions,
  'port' | 'host' | 'allowedHosts' | 'auth' | 'onRequest' | 'clientAddress' | 'stopOnSignals'
>

/** Decides how a gateway is reached, stopped and logged. */
export function createOperation(
  { listen, log }: Pick<GatewayFile, 'listen' | 'log'>,
  port?: number,
): {
  readonly http: HttpSettings
  readonly log: Log | undefined
} {
  const { protect: _, port: _port, clientAddress, noticeMs, graceMs, ...address } = listen
  return {
    http: {
      ...address,
      port,
      stopOnSignals: { noticeMs, graceMs },
      ...(clientAddress !== undefined && { clientAddress: createAddressReader(clientAddress) }),
    },
    log: log === 'json' ? writeJsonLine : undefined,
  }
}

/** Reads the port of a file, which may be in a variable. */
export async function readPort(
  { port }: GatewayFile['listen'],
  secrets: Pick<SecretReader, 'read' | 'problems'>,
): Promise<number | undefined> {
  if (typeof port !== 'object') return port
  const text = await secrets.read('listen.port', port)
  if (!/^\d{0,5}$/.test(text) || Number(text) > 65_535)
    secrets.problems.push(`listen.port: the variable ${port.env} must be a number from 0 to 65535`)
  return Number(text)
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
