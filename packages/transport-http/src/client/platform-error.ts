import { messageOf } from '@x/core'
import { HttpError, type HttpErrorDetails, isHttpError } from './http-error.ts'

/** Of an error whose message names the forward proxy to which there is no connection, or none in time. */
export const proxyErrorCodes = { unreachable: 'ERR_PROXY_UNREACHABLE', timeout: 'ERR_PROXY_TIMEOUT' } as const
// undici's message for a forward proxy that refuses to open a tunnel. It has the status.
const refusedTunnelPattern = /^Proxy response \((\d{3})\)/
// Errors before a connection exists: no byte of the request was sent.
const unconnectedCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  proxyErrorCodes.unreachable,
])
// Errors for responses that violate HTTP. An incomplete response is not among them, because its cause is a broken
// connection.
const malformedResponsePattern = /^(?:UND_ERR_HEADERS_OVERFLOW$|HPE_)/
// Errors for untrusted certificates, and for other failures of TLS. Nothing was sent, and another attempt would fail too.
const untrustedCodePattern =
  /^(?:(?:CERT|CRL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERROR_IN|ERR_TLS|ERR_SSL)_|(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$)/
// What OpenSSL makes of an answer in plain HTTP.
const plainCodes = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])

/**
 * True if an error of the platform proves that the server received no part of the request: a refused connection, an
 * unknown host name, or a socket that closed before its first byte was written.
 */
export function isUnsent(error: unknown): boolean {
  const { code, syscall, errors, socket } = readErrorView(error)
  // Node tried several addresses. None of them may have received the request.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnsent)
  if (typeof code !== 'string') return false
  if (unconnectedCodes.has(code)) return true
  if (code === 'UND_ERR_SOCKET') return readErrorView(socket).bytesWritten === 0
  return syscall === 'connect'
}

/**
 * Wraps an error of the platform, which becomes the cause of an {@link HttpError}. A mistake of the program becomes a
 * `TypeError`, which no client tries again.
 */
export function toHttpError(error: unknown, origin: string): HttpError | TypeError {
  if (isHttpError(error)) return error
  const { code: givenCode } = readErrorView(error)
  const code = typeof givenCode === 'string' ? givenCode : ''
  const codeSuffix = code && ` (${code})`
  const details = { origin, cause: error }
  // undici before version 7 expects other members of a handler.
  if (code === 'UND_ERR_INVALID_ARG')
    return new TypeError('The option dispatcher is of undici 6 or earlier: give one of undici 7 or later', details)
  if (untrustedCodePattern.test(code))
    return new HttpError('certificate', describeTlsProblem(code, codeSuffix), details)
  if (isUnsent(error)) return createUnsentError(code, `no connection${codeSuffix}`, details)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === proxyErrorCodes.timeout) return createTimeoutError(code, details)
  if (malformedResponsePattern.test(code))
    return new HttpError('protocol', `the answer is not valid HTTP${codeSuffix}`, details)
  return createClosedError(codeSuffix, details)
}

function createTimeoutError(code: string, details: HttpErrorDetails): HttpError {
  const message = code === proxyErrorCodes.timeout ? messageOf(details.cause) : 'no connection in time'
  return new HttpError('timeout', message, { ...details, mayHaveRun: false })
}

function createUnsentError(code: string, problem: string, details: HttpErrorDetails): HttpError {
  if (code === proxyErrorCodes.unreachable) return new HttpError('connect', messageOf(details.cause), details)
  if (code !== 'ECONNREFUSED') return new HttpError('connect', problem, details)
  return new HttpError('refused', `${problem}: nothing listens at this address; is the server running?`, details)
}

function createClosedError(codeSuffix: string, details: HttpErrorDetails): HttpError {
  const refusedStatus = refusedTunnelPattern.exec(messageOf(details.cause))?.[1]
  if (refusedStatus === undefined)
    return new HttpError('closed', `the connection ended before the answer${codeSuffix}`, details)
  const message = `the proxy answered ${refusedStatus} to CONNECT`
  return new HttpError('status', message, { ...details, status: Number(refusedStatus), mayHaveRun: false })
}

function describeTlsProblem(code: string, codeSuffix: string): string {
  const problem = code.startsWith('ERR_SSL_') ? 'no TLS connection' : 'its certificate is not trusted'
  const advice = plainCodes.has(code) ? ': if the server speaks plain HTTP, its URL begins with http://' : ''
  return `${problem}${codeSuffix}${advice}`
}

// `fetch` throws a `TypeError` without details; its cause is the platform's error.
function readErrorView(error: unknown): {
  readonly [Member in 'code' | 'syscall' | 'errors' | 'socket' | 'bytesWritten']?: unknown
} {
  if (typeof error !== 'object' || error === null) return {}
  const innerError = error instanceof TypeError && typeof error.cause === 'object' ? error.cause : undefined
  return innerError ?? error
}
